// Log out.

import { find } from "./page.js";
import { request } from "./server.js";

find("#leave").addEventListener("click", async () => {
  await request("POST", "/api/organize/logout");
  location.assign("/organize/login");
});
