// Log out.

import { find } from "./dom.js";
import { request } from "./requests.js";

find("#leave").addEventListener("click", async () => {
  await request("POST", "/api/organize/logout");
  location.assign("/organize/login");
});
