// The organizer's key: typed, or from behind the # of the printed link, which no server and no log ever sees.

import { find } from "./dom.js";
import { Refusal, request } from "./requests.js";

const [form, field, wrong] = [find("#login"), find("#key"), find("#wrong")];

async function enter(key) {
  wrong.textContent = "";
  try {
    await request("POST", "/api/organize/login", { key });
    location.replace("/organize");
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    wrong.textContent = error.message;
    field.focus();
    field.select();
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  enter(field.value.trim().split("#").pop()); // of the whole link, its key
});

function enterByLink() {
  const key = decodeURIComponent(location.hash.slice(1));
  if (!key) return;
  history.replaceState(null, "", location.pathname);
  field.value = key;
  enter(key);
}

addEventListener("hashchange", enterByLink); // the link was opened where this page was: it is not loaded again
enterByLink();
