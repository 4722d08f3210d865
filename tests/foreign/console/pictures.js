// Pictures of ten screens, at two widths, light and dark. Taken of the demonstration as a newcomer finds it, before anybody
// has worked there; docs/console.md shows some of them.
import { mkdir, writeFile } from "node:fs/promises";
import { signIn, WIDTHS } from "./desk.js";
import { withFewColours } from "./png.js";

const { BURSAR_URL, ORGANIZATION } = process.env;

/** How each screen is reached. */
const SCREENS = {
  overview: (desk) => desk.at(""),
  members: (desk) => desk.at("members?state=owing"),
  member: async (desk) => {
    await desk.at("members?state=owing");
    await desk.first();
  },
  raise: async (desk) => {
    await desk.at("charges/new");
    await desk.fill({ "Everybody in a group": "Boat owners", "What it is for": "Rack space" });
    await desk.press("Preview");
  },
  record: async (desk) => {
    await desk.at("members?state=owing");
    await desk.first();
    await desk.open("Record money");
  },
  bank: async (desk) => {
    await desk.at("bank");
    await desk.first();
  },
  reimbursement: async (desk) => {
    await desk.at("reimbursements");
    await desk.open("Posters for the open day");
  },
  reminder: async (desk) => {
    await desk.at("reminders?show=past");
    await desk.open("Your dues are late");
  },
  campaign: async (desk) => {
    await desk.at("campaigns");
    await desk.open("A new coxed four");
  },
  report: (desk) => desk.at("reports/dues"),
};

export async function takePictures(browser, found, folder) {
  await mkdir(folder, { recursive: true });
  let taken = 0;
  for (const [device, viewport] of Object.entries(WIDTHS)) {
    for (const colorScheme of ["light", "dark"]) {
      const desk = await signIn(browser, found, "treasurer@example.org", { viewport, colorScheme, reducedMotion: "reduce" });
      desk.at = (end) => desk.page.goto(`${BURSAR_URL}/console/${ORGANIZATION}/${end}`.replace(/\/$/, ""));
      desk.first = () => desk.turn(() => desk.page.getByRole("rowheader").getByRole("link").first().click());
      for (const [name, reach] of Object.entries(SCREENS)) {
        await reach(desk);
        const picture = await desk.page.screenshot();
        await writeFile(`${folder}/${name}-${viewport.width}-${colorScheme}.png`, withFewColours(picture));
        taken += 1;
      }
      await desk.close();
    }
  }
  console.log(`${taken} pictures of ${Object.keys(SCREENS).length} screens are in ${folder}`);
}
