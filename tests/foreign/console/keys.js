// A desk without a mouse: Tab, Enter, Space, arrows and typing. What cannot be reached so, or cannot be seen when it is
// reached, fails the story.
import assert from "node:assert/strict";
import { Desk } from "./desk.js";

/** More than any page has. */
const STOPS_MAX = 600;

export class Keys extends Desk {
  constructor(page) {
    super(page);
    // Playwright takes over a page's file choosers while somebody listens for them. A listener that comes with the key
    // can come after it: the browser then opens a chooser of its own, and nobody is told.
    page.on("filechooser", () => {});
  }

  key(name) {
    return this.page.keyboard.press(name);
  }

  /** Tabs on until the element has the focus, and looks whether a person sees that it has. */
  async reach(locator) {
    await locator.waitFor();
    const target = await locator.elementHandle();
    const where = await target.evaluate((element) => ({
      isFresh: document.activeElement === document.body,
      isInMain: element.closest("main") !== null && document.querySelector(".skip") !== null,
    }));
    if (where.isFresh && where.isInMain) {
      await this.key("Tab");
      await this.key("Enter");
      assert.ok(await this.page.evaluate(() => document.activeElement.tagName === "MAIN"), "the first stop does not skip to the content");
    }
    let stops = 0;
    while (!(await target.evaluate((element) => element === document.activeElement))) {
      assert.ok(stops < STOPS_MAX, `${this.page.url()}: Tab does not reach ${locator}`);
      await this.key("Tab");
      stops += 1;
    }
    const seen = await target.evaluate((element) => {
      const style = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      const [x, y] = [box.left + Math.min(box.width / 2, 20), box.top + box.height / 2];
      const top = document.elementFromPoint(x, y);
      return {
        outline: style.outlineStyle === "none" ? 0 : Number.parseFloat(style.outlineWidth),
        isOnTop: top !== null && (element.contains(top) || top.contains(element) || top.closest("label")?.control === element),
        box: `${Math.round(box.left)},${Math.round(box.top)} ${Math.round(box.width)}×${Math.round(box.height)}`,
      };
    });
    assert.ok(seen.outline >= 2, `${this.page.url()}: the focus on ${locator} cannot be seen`);
    assert.ok(seen.isOnTop, `${this.page.url()}: ${locator} has the focus and is hidden, at ${seen.box}`);
  }

  async hit(locator) {
    await this.reach(locator);
    await this.key("Enter");
  }

  async write(field, text) {
    await this.reach(field);
    // A day is typed field by field, as this browser's language writes it.
    if ((await field.getAttribute("type")) === "date") {
      const [year, month, day] = text.split("-");
      await this.page.keyboard.type(month + day + year);
      assert.equal(await field.inputValue(), text);
      return;
    }
    await this.key("Control+A");
    if (text === "") await this.key("Delete");
    else await this.page.keyboard.type(text);
    assert.equal(await field.inputValue(), text);
  }

  async choose(field, label) {
    await this.reach(field);
    const chosen = () => field.evaluate((select) => select.selectedOptions[0]?.label);
    await this.key("Home");
    for (let steps = await field.locator("option").count(); (await chosen()) !== label; steps -= 1) {
      assert.ok(steps > 0, `${field} has no ${label}`);
      await this.key("ArrowDown");
    }
  }

  async tick(box) {
    const before = await box.isChecked();
    await this.reach(box);
    await this.key("Space");
    assert.notEqual(await box.isChecked(), before);
  }

  async attach(field, file) {
    await this.reach(field);
    const choosing = this.page.waitForEvent("filechooser");
    await this.key("Space");
    await (await choosing).setFiles(file);
  }
}
