// The organizer's key: another one, when somebody has it who should not.

import { copyable, find, toast } from "./dom.js";
import { request, tried } from "./requests.js";

/** Wire the button that renews the key. */
export function key() {
  find("#renew-key").addEventListener("click", () => tried(async () => {
    const { link } = await request("POST", "/api/organize/key", undefined, { repeats: false });
    find("#new-key").replaceChildren(...copyable(location.origin + link, "The organizer's link, with the new key"));
    toast("Keep the new link: the one before opens nothing any more.", 8);
  }));
}
