// Whether the study is on course: answers over time, what they lead to, and when it will be done.

import { find } from "./dom.js";

const WIDTH = 600;
const HEIGHT = 120;
const DAY_S = 86_400;
const SVG = "http://www.w3.org/2000/svg";
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const exact = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const second = (time) => exact.format(new Date(1000 * time));
const date = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "numeric" });
const number = new Intl.NumberFormat();

function moment(time) {
  const then = new Date(1000 * time);
  return Math.abs(time - Date.now() / 1000) < DAY_S / 2 ? clock.format(then) : date.format(then);
}

/** Two times, with their seconds where they would read the same otherwise, and in a word where that does not help. */
function span(from, to) {
  for (const said of [moment, second]) {
    const [first, last] = [said(from), said(to)];
    if (first !== last) return [first, last];
  }
  return ["just begun", ""];
}

function line(points, name) {
  const made = document.createElementNS(SVG, "polyline");
  made.setAttribute("points", points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "));
  made.setAttribute("class", name);
  return made;
}

/** Answers so far as a line, and dashed on to where the pace of late leads. */
function draw(course, { answers, budget }) {
  const picture = find("#course-picture");
  const { timeline, ends } = course;
  picture.toggleAttribute("hidden", timeline.length < 2);
  if (timeline.length < 2) return;
  const [first] = timeline[0];
  const [last] = timeline.at(-1);
  const until = ends !== null && ends - first < 4 * (last - first) ? ends : last;
  const most = budget ?? answers;
  const at = ([time, count]) => [(WIDTH * (time - first)) / Math.max(until - first, 0.001), HEIGHT - (HEIGHT * Math.min(count, most)) / Math.max(most, 1)];
  const ahead = until > last ? [line([at(timeline.at(-1)), at([until, most])], "ahead")] : [];
  picture.replaceChildren(line(timeline.map(at), "given"), ...ahead);
  picture.setAttribute("aria-label", `Answers over time: ${number.format(answers)}, ${span(first, last).filter(Boolean).join(" to ")}`);
  [find("#course-from").textContent, find("#course-to").textContent] = span(first, until);
}

/** Say it in words, and draw it. */
export function showCourse(status) {
  const { course, state } = status;
  const over = state === "finished";
  find("#course-part").hidden = !course.words && course.timeline.length < 2;
  find("#course-title").textContent = over ? "Answers over time" : course.on_course === null ? "How it goes" : course.on_course ? "On course" : "Behind";
  find("#course-part").dataset.behind = course.on_course === false;
  const ends = !over && course.ends !== null && state === "open" ? ` At the pace of the last minutes it is done ${moment(course.ends)}.` : "";
  find("#course-words").textContent = course.words.replace(/^(On course|Behind): /, "") + ends;
  draw(course, status);
}
