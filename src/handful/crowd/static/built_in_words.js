// What people read of the app's own, in the language of the study: shown beside the fields for the organizer's words.

import { find } from "./dom.js";

/** Show the question that is asked where none is written, and what a panel's people read below the consent. */
export function sayBuiltIn({ question, of_panel: ofPanel }) {
  find("#question").placeholder = question;
  find("#of-panel").hidden = !ofPanel;
  find("#of-panel q").textContent = ofPanel ?? "";
}
