// What is wrong with a field, in plain words beside it. The browser knows it already; its own words are a bubble that goes.

import { find, make } from "./dom.js";

const number = new Intl.NumberFormat();

/** Whether a field stands in a part of the page that does not apply now. */
export const idle = (field) => field.closest("[hidden]") !== null;

/** What is expected of a number field; "" where that is what it has. `because` says where its limits come from. */
export function numberFault(field, because = "") {
  const { badInput, valueMissing, rangeUnderflow, rangeOverflow, stepMismatch } = field.validity;
  if (idle(field) || !(badInput || valueMissing || rangeUnderflow || rangeOverflow || stepMismatch)) return "";
  const whole = field.step === "" ? "a whole number" : "a number";
  const { min, max } = field;
  const range = max === "" ? `, ${limit(min)} or more` : Number(min) >= Number(max) ? `: ${limit(max)}` : ` from ${limit(min)} to ${limit(max)}`;
  return `Give ${whole}${range}${field.required ? "" : ", or leave it empty"}.${because && ` ${because}`}`;
}

const limit = (bound) => (Number(bound) < 1 && Number(bound) > 0 ? bound : number.format(Number(bound)));

/** Say what is wrong with a field below it, and to people who listen as they come to it; "" where nothing is. */
export function sayFault(field, fault) {
  const id = `${field.id}-fault`;
  let line = find(`#${id}`);
  if (!line && !fault) return;
  if (!line) {
    line = make("p", { id, className: "wrong small-print", role: "status" });
    field.after(line);
    field.setAttribute("aria-describedby", id);
  }
  line.textContent = fault;
  field.setAttribute("aria-invalid", String(Boolean(fault)));
}
