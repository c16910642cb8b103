// Opens HTML reports, an explanatory figure and pages of fits in a headless Chromium and checks what a reader would see.
//   node run.mjs --report FILE.html --task FILE.html --map FILE.html --runs FILE.html --comparison FILE.html --figure FILE.html
//     --fit FILE.html --hostile FILE.html --lesson FILE.html --pictures DIR --shots DIR
// Any of them may be left out. Report is that of the single module task; task and map are those of tasks with few cells and
// with many; runs is one whose runs have a single row; comparison has results side by side. The hostile page is that of a
// fit with markup in every text. Pictures is a folder of pages that `nalm figure MODULE` wrote.
// One line per check. Exit code 0: all hold, 1: some do not, 2: wrong usage, 77: no browser or no playwright-core.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const BROWSER = process.env.NALM_CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const options = {};
for (let at = 2; at < process.argv.length; at += 2) options[process.argv[at].replace(/^--/, "")] = process.argv[at + 1];
const PAGES = ["report", "task", "map", "runs", "comparison", "figure", "fit", "hostile", "lesson", "pictures"];
if (!PAGES.some((name) => options[name])) {
  console.error(`usage: node run.mjs ${PAGES.map((name) => `--${name} FILE.html`).join(" ")} --shots DIR`);
  process.exit(2);
}
const leave_skipped = (why) => { console.log(`skipped: ${why}`); process.exit(77); };
if (!fs.existsSync(BROWSER)) leave_skipped(`${BROWSER} is missing`);
const playwright = await import("playwright-core").catch(() => null);
if (!playwright) leave_skipped("playwright-core is not installed (npm ci)");
if (options.shots) fs.mkdirSync(options.shots, { recursive: true });

let failures = 0;
let checks = 0;
const check = (holds, what, found) => {
  ++checks;
  if (!holds) ++failures;
  console.log(`${holds ? "ok  " : "FAIL"} ${what}${holds || found === undefined ? "" : `: ${typeof found === "string" ? found : JSON.stringify(found)}`}`);
};
const equal = (found, expected, what) =>
  check(JSON.stringify(found) === JSON.stringify(expected), what, `found ${JSON.stringify(found)?.slice(0, 200)}, expected ${JSON.stringify(expected)?.slice(0, 200)}`);
const shot = async (page, name, settings) => { if (options.shots) await page.screenshot({ path: path.join(options.shots, name), ...settings }); };

// A page that notes everything it must not do.
async function open(browser, file, settings, ready = ".plot[data-drawn]") {
  const address = pathToFileURL(path.resolve(file)).href;
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light", reducedMotion: "reduce", ...settings });
  page.setDefaultTimeout(30000);
  page.said = [];
  page.asked = [];
  page.on("console", (message) => page.said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => page.said.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { page.said.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => {
    // pictures and downloads that the page itself carries never reach a network
    if (request.url() !== address && !/^(data|blob):/.test(request.url())) page.asked.push(request.url());
  });
  await page.goto(address);
  await page.waitForSelector(ready);
  await page.waitForFunction(() => !document.querySelector(".cells tbody:empty"));
  return page;
}
const bring = async (page, id) => {
  await page.evaluate((name) => document.querySelector(`#figure-${name} .plot`).scrollIntoView({ block: "center" }), id);
  await page.waitForFunction((name) => { const figure = nalm.figures.find((each) => each.id === name); return figure.plot.dataset.drawn && !figure.dirty; }, id);
};
// What the tooltip of a mark says. Figures that are drawn meanwhile may move the mark away from under the pointer.
const tip_of = async (page, mark, holds) => {
  let tip = "no tip";
  for (let attempt = 0; attempt < 10; ++attempt) {
    await mark.hover({ force: true });
    tip = await page.isVisible(".tip") ? await page.textContent(".tip") : "no tip";
    if (holds(tip)) break;
    await page.waitForTimeout(100);
    await page.mouse.move(2, 2);
  }
  return tip;
};
const marks = (page, name, scope = "", child = "path") => page.locator(`${scope} .${name}_marks > ${child}`).count();
const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const lightness = (colour) => colour.match(/[\d.]+/g).slice(0, 3).reduce((total, part) => total + Number(part), 0) / 3;
const overflow = (page) => page.evaluate(() => {
  const room = document.documentElement.clientWidth;
  const boxed = (element) => element.closest(".box, .formula, pre, nav, .plot svg, .drawing, .paper, .skip, .tip");
  const wide = [...document.querySelectorAll("body *")].filter((element) => !boxed(element) && element.getBoundingClientRect().right > room + 1);
  return { extra: document.documentElement.scrollWidth - room, wide: wide.slice(0, 3).map((element) => `${element.tagName}.${element.className}`) };
});
const draw_all = async (page) => {
  for (const id of await page.evaluate(() => nalm.figures.map((figure) => figure.id))) await bring(page, id);
  await page.evaluate(() => scrollTo(0, 0));
};
async function downloaded(page, figure, kind) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(`#figure-${figure} [data-download="${kind}"]`)]);
  return { name: download.suggestedFilename(), bytes: fs.readFileSync(await download.path()) };
}
async function check_downloads(page, figure, words) {
  const svg = await downloaded(page, figure, "svg");
  const found = await page.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    return {
      root: parsed.querySelector("parsererror") ? "parser error" : parsed.documentElement.localName,
      text: [...parsed.querySelectorAll("text")].map((each) => each.textContent).join(" | "),
      white: parsed.querySelector("path.background, rect.background, rect")?.getAttribute("fill"),
      shapes: parsed.querySelectorAll("path, line, image, rect").length,
      names: /var\(--/.test(text),
    };
  }, svg.bytes.toString("utf8"));
  check(found.root === "svg" && found.shapes > 5, `${figure}: the SVG file parses and is not empty`, found);
  check(words.every((word) => found.text.includes(word)), `${figure}: the SVG file carries title and legend`, `missing ${words.filter((word) => !found.text.includes(word))}`);
  check(/^(#fff(fff)?|white)$/i.test(found.white ?? "") && !found.names, `${figure}: the SVG file is white and needs no style sheet`, found.white);
  const png = await downloaded(page, figure, "png");
  const signature = png.bytes.subarray(0, 8).toString("hex") === "89504e470d0a1a0a";
  const width = signature ? png.bytes.readUInt32BE(16) : 0;
  check(signature && width >= 1000 && png.bytes.length > 5000, `${figure}: the PNG file is a picture at least 1000 pixels wide`, { signature, width, bytes: png.bytes.length });
  check(svg.name.endsWith(".svg") && png.name.endsWith(".png") && svg.name.startsWith("nalm-"), `${figure}: the files have telling names`, [svg.name, png.name]);
  if (options.shots) {
    fs.writeFileSync(path.join(options.shots, svg.name), svg.bytes);
    fs.writeFileSync(path.join(options.shots, png.name), png.bytes);
  }
}
async function check_dark(page, mark, where) {
  const colour = () => page.evaluate((selector) => { const style = getComputedStyle(document.querySelector(selector)); return style.fill + style.stroke; }, mark);
  const light = [await background(page), await colour()];
  await check_contrast(page, `${where}, light`);
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = [await background(page), await colour()];
  await check_contrast(page, `${where}, dark`);
  check(lightness(light[0]) > 200 && lightness(dark[0]) < 60, `${where}: a dark system makes the page dark`, [light[0], dark[0]]);
  check(light[1] !== dark[1], `${where}: and changes the colours of the marks`, light[1]);
  await page.click('.theme [data-choice="light"]');
  check(lightness(await background(page)) > 200, `${where}: the switch makes it light again`, await background(page));
  await page.emulateMedia({ colorScheme: "light" });
  await page.click('.theme [data-choice="dark"]');
  check(lightness(await background(page)) < 60, `${where}: the switch makes it dark on a light system`, await background(page));
}
// Leaves the page as it is on paper.
async function check_print(page, where) {
  await page.emulateMedia({ media: "print", colorScheme: "light" });
  const seen = await page.evaluate(() => [...document.querySelectorAll(".bar, .downloads, .theme, .fields, .skip")].filter((each) => each.getClientRects().length > 0).map((each) => each.className));
  equal(seen, [], `${where}: paper has no controls`);
  check(lightness(await background(page)) > 200, `${where}: paper is white even in dark mode`, await background(page));
  // paper does not scroll: what is higher or wider than its box lies over what follows, or is lost
  const cut = await page.evaluate(() => [...document.querySelectorAll(".box, pre")].filter((each) => each.getClientRects().length > 0)
    .filter((each) => each.scrollHeight > each.clientHeight + 2 || each.scrollWidth > each.clientWidth + 2).map((each) => each.getAttribute("aria-label") ?? each.textContent.slice(0, 40)));
  equal(cut, [], `${where}: no box cuts its content on paper`);
  const torn = await page.evaluate(() => [...document.querySelectorAll("h2, h3, .intro")].filter((each) => getComputedStyle(each).breakAfter !== "avoid" || (each.className === "intro" && getComputedStyle(each).breakInside !== "avoid")).map((each) => each.textContent.slice(0, 40)));
  equal(torn, [], `${where}: no sheet ends between a heading and what it is about`);
  const again = await page.evaluate(() => [...document.querySelectorAll(".recipes tbody th")].map((each) => each.textContent).filter((text) => text.split("; ").some((part) => { const list = part.split(", ").slice(1); return new Set(list).size < list.length; })));
  equal(again, [], `${where}: no recipe names an operation twice`);
}
// No section is taller than what stands in it.
const check_heights = async (page, where) => {
  const empty = await page.evaluate(() => [...document.querySelectorAll("main section")].flatMap((section) => {
    const inside = [...section.children].filter((child) => child.getClientRects().length).map((child) => child.getBoundingClientRect().bottom);
    const spare = section.getBoundingClientRect().bottom - Math.max(...inside);
    return spare > 160 ? [`${section.id}: ${Math.round(spare)} pixels of nothing`] : [];
  }));
  equal(empty, [], `${where}: no section is taller than its content`);
};
// Text can be told from what is behind it: 4.5 to 1, or 3 to 1 if it is large (WCAG AA).
const check_contrast = async (page, where) => {
  const weak = await page.evaluate(() => {
    // The browser itself paints the colours over each other: it writes them in several ways, such as rgb(), oklab() and
    // color(srgb), and some are partly transparent.
    const brush = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const painted = (colours) => {
      for (const colour of colours) { brush.fillStyle = colour; brush.fillRect(0, 0, 1, 1); }
      return [...brush.getImageData(0, 0, 1, 1).data];
    };
    const light = (colour) => colour.slice(0, 3).map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = (element) => (element ? [...behind(element.parentElement), getComputedStyle(element).backgroundColor] : ["white"]);
    const found = new Map();
    for (const element of document.querySelectorAll("#page *")) {
      const words = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      if (!words || element.closest("svg, option") || !element.getClientRects().length) continue;
      const style = getComputedStyle(element);
      const [a, b] = [light(painted([...behind(element), style.color])), light(painted(behind(element)))].sort((x, y) => y - x);
      const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && Number(style.fontWeight) >= 700);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < (large ? 3 : 4.5)) found.set(`${element.tagName}.${element.className}`, ratio.toFixed(2));
    }
    return [...found].slice(0, 4);
  });
  equal(weak, [], `${where}: text can be told from the page`);
};
const check_silence = async (page, where) => {
  equal(page.said, [], `${where}: the console is empty`);
  equal(await page.evaluate(() => nalm.messages), [], `${where}: the drawing library has no complaints`);
  equal(page.asked, [], `${where}: nothing is requested but the file itself`);
};
const check_structure = async (page, where) => {
  const found = await page.evaluate(() => ({
    lang: document.documentElement.lang, h1: document.querySelectorAll("h1").length, main: document.querySelectorAll("main").length,
    unnamed: [...document.querySelectorAll("button, select, [role=img], [role=region]")].filter((each) =>
      !(each.getAttribute("aria-label") || each.getAttribute("aria-labelledby") || each.closest("label") || each.textContent.trim())).length,
  }));
  equal(found, { lang: "en", h1: 1, main: 1, unnamed: 0 }, `${where}: language, landmarks, and a name for every control`);
  await page.keyboard.press("Tab");
  equal(await page.evaluate(() => document.activeElement.className), "skip", `${where}: the first stop of the tabulator skips to the content`);
  await page.keyboard.press("Tab");
  const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  check(ring === "solid", `${where}: the focus has a ring`, ring);
};

async function check_report(browser) {
  const page = await open(browser, options.report);
  const data = await page.evaluate(() => nalm.data);
  const { cells } = data;
  const first = await page.evaluate(() => Math.round(nalm.figures.first));
  console.log(`     first figure after ${first} ms, ${cells.length} cells, ${fs.statSync(options.report).size} bytes`);
  check(first < 5000, "report: the first figure is drawn within five seconds", `${first} ms`);
  check((await page.title()).includes(data.title), "report: the window has the title", await page.title());
  const runs = cells.reduce((total, cell) => total + cell.runs, 0).toLocaleString("en");
  const solved = cells.reduce((total, cell) => total + cell.successes, 0).toLocaleString("en");
  const summary = await page.textContent("#summary");
  check(summary.startsWith(`${runs} run`) && summary.includes(`; ${solved} solved`), "report: the summary counts runs and successes", summary);
  await shot(page, "report-light.png");
  await check_structure(page, "report");  // before anything else has had the focus

  // figures
  const operations = data.operations.filter((operation) => cells.some((cell) => cell.operation === operation));
  const of = (operation) => cells.filter((cell) => cell.operation === operation);
  const panels = ["success", "solved_at", "sparsity"];
  const theirs = (cell, what) => cell.published.filter((figure) => figure.what === what);
  const expected = (list, source) => panels.map((panel) => list.reduce((total, cell) => total + (source === "ours" ? Number(cell[panel] !== null) : theirs(cell, panel.replace("_", "-")).length), 0));
  const drawn = (operation, source) => Promise.all(panels.map((panel) => marks(page, `${panel}_${source}`, `#figure-${operation}`)));
  const has_published = cells.some((cell) => cell.published.length);
  const undrawn = await page.evaluate(() => nalm.figures.filter((figure) => !figure.plot.dataset.drawn).length);
  if (operations.length > 2) check(undrawn > 0, "report: figures far away wait until they are needed", undrawn);
  const paper = await page.pdf({ preferCSSPageSize: true });
  check(paper.subarray(0, 5).toString() === "%PDF-" && paper.length > 20000, "report: prints to a PDF", paper.length);
  equal(await page.evaluate(() => nalm.figures.filter((figure) => !figure.plot.dataset.drawn).map((figure) => figure.id)), [], "report: printing draws the figures nobody has seen yet");
  if (options.shots) fs.writeFileSync(path.join(options.shots, "report.pdf"), paper);
  for (const operation of operations) {
    await bring(page, operation);
    equal(await drawn(operation, "ours"), expected(of(operation), "ours"), `${operation}: a mark for every estimate`);
    if (has_published) equal(await drawn(operation, "published"), expected(of(operation), "published"), `${operation}: a hollow mark for every published value`);
    await check_panels(page, operation, cells);
    equal(await marks(page, "success_ours_bars", `#figure-${operation}`, "line"), of(operation).length, `${operation}: an error bar for every success rate`);
  }
  const one = operations[0];
  await bring(page, one);
  if (has_published) {
    await page.uncheck("#toggle-published");
    equal([await drawn(one, "published"), await drawn(one, "ours")], [[0, 0, 0], expected(of(one), "ours")], "report: the switch hides the published values only");
    await page.check("#toggle-published");
    equal(await drawn(one, "published"), expected(of(one), "published"), "report: and shows them again");
  } else {
    equal(await page.locator("#toggle-published").count(), 0, "report: without published values there is no switch for them");
  }
  const { model } = of(one)[0];
  const key = page.locator(`#figure-${one} .key[data-model="${model}"]`);
  await key.click();
  equal([await key.getAttribute("aria-pressed"), await drawn(one, "ours")], ["false", expected(of(one).filter((cell) => cell.model !== model), "ours")], "report: a click in the legend hides a model");
  await key.focus();
  await page.keyboard.press("Enter");
  equal([await key.getAttribute("aria-pressed"), await drawn(one, "ours")], ["true", expected(of(one), "ours")], "report: the key Enter shows it again");
  const mark = page.locator(`#figure-${one} .success_ours_marks > path`).first();
  const told = await tip_of(page, mark, (tip) => tip.includes(model));
  check(told.includes(model), "report: a mark tells its numbers", told);
  await mark.click({ force: true });
  equal(await page.evaluate(() => ["operation", "model"].map((name) => document.getElementById(`choose-${name}`).value)), [one, model], "report: a click on a mark chooses its cell");

  // table
  const order = () => page.evaluate(() => [...document.querySelectorAll(".cells tbody tr")].map((row) => Number(row.dataset.cell)));
  equal((await order()).length, cells.length, "table: a row for every cell");
  const head = page.locator('.cells th[data-column="solved"]');
  const rates = async () => (await order()).map((index) => cells[index].successes / cells[index].runs);
  await head.locator("button").click();
  equal([await head.getAttribute("aria-sort"), await rates()], ["descending", (await rates()).toSorted((a, b) => b - a)], "table: a click on a header sorts, largest first");
  await head.locator("button").press("Enter");
  equal([await head.getAttribute("aria-sort"), await rates()], ["ascending", (await rates()).toSorted((a, b) => a - b)], "table: the key Enter turns the order round");
  // ascending, the second click: descending order would put empty values last by itself
  await page.locator('.cells th[data-column^="solved at"] button').click();
  await page.locator('.cells th[data-column^="solved at"] button').click();
  const speeds = (await order()).map((index) => Math.round(cells[index].solved_at?.[0] ?? 1e300));  // as the table prints them
  equal(speeds, speeds.toSorted((a, b) => a - b), "table: what has no value comes last");
  const [operation_filter, model_filter] = [page.locator("#table select").nth(0), page.locator("#table select").nth(1)];
  const target = cells.at(-1);
  await operation_filter.selectOption(target.operation);
  await model_filter.selectOption(target.model);
  equal((await order()).toSorted((a, b) => a - b), cells.flatMap((cell, index) => (cell.operation === target.operation && cell.model === target.model ? [index] : [])), "table: the filters leave the right rows");
  if (theirs(target, "success").length) {
    const delta = target.successes - Math.round(theirs(target, "success")[0].value * target.runs);
    const column = await page.evaluate(() => [...document.querySelectorAll(".cells thead th")].findIndex((each) => each.dataset.column === "difference in runs"));
    const text = await page.locator(`.cells tr[data-cell="${cells.length - 1}"] > *`).nth(column).textContent();
    equal(Number(text.replace("\u2212", "-").replace(/[^\d-]/g, "")), delta, "table: the difference in runs is ours less theirs");
  }
  await page.locator(`.cells tr[data-cell="${cells.length - 1}"] .row-button`).press("Enter");
  equal(await page.inputValue("#choose-setting"), target.setting, "table: a row chooses its cell, by key too");
  await operation_filter.selectOption("");
  await model_filter.selectOption("");

  // curves
  await bring(page, "curves");
  const outline = () => page.locator("#figure-curves .mark-line").first().locator("path").first().getAttribute("d");
  equal(await page.locator("#figure-curves .mark-line path").count(), target.seeds.length + 1, "curves: a line for every seed, and their median");
  await page.selectOption("#choose-operation", cells[0].operation);
  await page.selectOption("#choose-model", cells[0].model);
  await page.selectOption("#choose-setting", cells[0].setting);
  await page.selectOption("#choose-measure", "validation_mse");
  await bring(page, "curves");
  equal(await page.locator("#figure-curves .mark-line path").count(), cells[0].seeds.length + 1, "curves: the drop-downs choose a cell");
  check((await page.textContent("#figure-curves figcaption")).includes(cells[0].setting), "curves: the heading names it");
  const before = await outline();
  equal(await page.locator("#figure-curves .threshold_marks line").count(), 0, "curves: no threshold for the validation error");
  await page.selectOption("#choose-measure", "test_mse");
  equal(await page.locator("#figure-curves .threshold_marks line").count(), 1, "curves: a threshold for the test error");
  check((await outline()) !== before, "curves: another error draws other lines");
  const failed = cells[0].seeds.filter((run) => !run.success);
  equal(await page.locator("#curves .runs tbody tr[data-failed]").count(), failed.length, "curves: the failed runs are listed");
  if (failed.length) check((await page.textContent("#curves .runs tbody")).includes(failed[0].failure ?? "no reason"), "curves: with their reasons");
  // where the first line begins there is surely a line to point at
  const start = await page.evaluate(() => {
    const path_element = document.querySelector("#figure-curves .mark-line path");
    const at = path_element.getPointAtLength(path_element.getTotalLength() / 2).matrixTransform(path_element.getScreenCTM());
    return [at.x, at.y];
  });
  equal(await marks(page, "judged", "#figure-curves"), 0, "curves: no ring before pointing");
  await page.mouse.move(...start);
  equal(await marks(page, "judged", "#figure-curves"), 1, "curves: pointing at a line rings its judged iteration");
  check(/^Seed \d+/.test(await page.textContent(".tip")), "curves: and tells its values", await page.textContent(".tip"));
  await shot(page, "curves.png");

  // cells beside each other
  await bring(page, "together");
  const beside = cells.filter((cell) => cell.operation === cells[0].operation && cell.setting === cells[0].setting);
  equal(await page.locator("#figure-together .mark-line path").count(), beside.length, "together: a median for every model");
  equal(await page.locator("#figure-together .mark-area path").count(), beside.length, "together: with a band around it");
  if (beside.length > 1) await check_line_keys(page, "together", "report");
  await page.selectOption("#choose-together", "setting");
  await bring(page, "together");
  equal(await page.locator("#figure-together .mark-line path").count(), cells.filter((cell) => cell.operation === cells[0].operation && cell.model === cells[0].model).length, "together: or for every setting");

  // failures
  await bring(page, "failures");
  const parts = operations.map((operation) => data.models.reduce((total, name) => {
    const own = of(operation).filter((cell) => cell.model === name);
    if (!own.length) return total;
    const kinds = new Set(own.flatMap((cell) => Object.entries(cell.failures).filter(([, number]) => number > 0).map(([kind]) => kind)));
    const told = own.reduce((all, cell) => all + cell.successes + Object.values(cell.failures).reduce((a, b) => a + b, 0), 0);
    return total + kinds.size + (own.some((cell) => cell.successes > 0) ? 1 : 0) + (told < own.reduce((all, cell) => all + cell.runs, 0) ? 1 : 0);
  }, 0));
  equal(await Promise.all(operations.map((_, index) => marks(page, `failures_${index}`, "#figure-failures"))), parts, "failures: a bar for every kind of every model");

  const settings = await page.textContent("#settings");
  check([data.version, ...data.reproduce, data.settings_text, ...data.facts.flat()].every((text) => settings.includes(text)), "report: settings, version and commands are there");
  check(data.recipes.flatMap(([names]) => names).every((name) => settings.includes(name.split(" ")[0])), "report: every recipe is told");
  const tall = await page.evaluate(() => document.getElementById("settings").offsetHeight);
  check(tall < 3000, "report: the settings fit on a few screens", tall);
  await check_heights(page, "report");
  await check_claims(page, data, "report");
  await check_sideways(page, "report");

  // files
  await page.mouse.move(2, 2);
  const shown_models = data.models.filter((name) => of(one).some((cell) => cell.model === name));
  await check_downloads(page, one, [{ add: "Addition", sub: "Subtraction", mul: "Multiplication", div: "Division" }[one] ?? one, "Success rate", ...shown_models]);
  await check_downloads(page, "curves", ["Learning curves", "solved", "not solved", "Iteration"]);
  await check_downloads(page, "failures", ["Kinds of failure", "solved", ...shown_models]);

  await bring(page, one);
  await page.evaluate(() => scrollTo(0, 0));
  await check_dark(page, `#figure-${one} .success_ours_marks path`, "report");
  await shot(page, "report-dark.png");
  await check_print(page, "report");
  await shot(page, "report-print.png");
  await check_silence(page, "report");
  await page.close();

  const phone = await open(browser, options.report, { viewport: { width: 380, height: 800 }, hasTouch: true, isMobile: true }, "main section");
  await draw_all(phone);
  equal(await overflow(phone), { extra: 0, wide: [] }, "report: nothing sticks out of a phone of 380 pixels");
  equal(await marks(phone, "success_ours", `#figure-${one}`), of(one).length, "report: the figures are complete on a phone");
  await shot(phone, "report-phone.png", { fullPage: true });
  const high = (id) => phone.evaluate((name) => Math.round(document.querySelector(`#figure-${name} .plot svg`).getBoundingClientRect().height), id);
  const full = await high(one);
  for (const each of await phone.locator(`#figure-${one} .key[data-model]`).all()) await each.click();
  await bring(phone, one);
  const bare = await high(one);
  check(full > 600 && bare < 400, "report: panels without a value take a line, not a screen", [full, bare]);
  await phone.click(`#figure-${one} .legend .quiet`);
  await bring(phone, one);
  equal(await high(one), full, "report: and are back with their values");
  await check_silence(phone, "report on a phone");
  await phone.close();
  await check_many_models(browser, one);
}

// Three times as many models: their figures are spread, so that marks can be told apart.
async function check_many_models(browser, operation) {
  const many = with_data(options.report, "many.html", (data) => {
    const table = data.tables.find((each) => each.title === operation);
    const own = data.cells.filter((cell) => cell.operation === operation);
    for (const more of [" 2", " 3"]) {
      data.models.push(...new Set(own.map((cell) => cell.model + more)));
      data.cells.push(...own.map((cell) => ({ ...cell, model: cell.model + more })));
      table.rows.push(...table.rows.slice(0, own.length).map((row) => [row[0] + more, ...row.slice(1)]));
    }
  });
  const page = await open(browser, many.copy);
  await draw_all(page);
  const keys = await page.evaluate((name) => nalm.figures.filter(({ id }) => id === name || id.startsWith(`${name}-`)).map(({ legend }) => legend.querySelectorAll(".key").length), operation);
  const own = many.data.cells.filter((cell) => cell.operation === operation);
  check(keys.length > 1 && keys.every((number_of) => number_of <= 7), "many: at most seven models share a figure", keys);
  equal(keys.reduce((a, b) => a + b, 0), new Set(own.map((cell) => cell.model)).size, "many: every model is in one");
  equal(await page.locator(`[id^="figure-${operation}"] .success_ours_marks > path`).count(), own.length, "many: with all its cells");
  equal(await marks(page, `map_${operation}`, `#figure-map-${operation}`), own.length, "many: a map has all of them at a glance");
  await check_heights(page, "many");
  await check_silence(page, "many");
  await page.close();
  const phone = await open(browser, many.copy, { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true }, "main section");
  await draw_all(phone);
  equal(await overflow(phone), { extra: 0, wide: [] }, "many: nothing sticks out of a phone of 390 pixels");
  await check_heights(phone, "many on a phone");
  await phone.close();
  many.remove();
}

// What the panels of an operation must not do: reach beyond the last iteration, let marks touch, join zero to a
// logarithmic axis without a break.
async function check_panels(page, operation, cells) {
  const own = cells.filter((cell) => cell.operation === operation);
  const found = await page.evaluate((id) => {
    const figure = nalm.figures.find((each) => each.id === id);
    const boxes = (name) => [...figure.plot.querySelectorAll(`.${name}_marks > path`)].map((each) => each.getBoundingClientRect());
    const touching = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const theirs = boxes("success_published");
    const labels = [...figure.plot.querySelectorAll(".role-axis-label text")].map((each) => Number(each.textContent.replaceAll(",", ""))).filter(Number.isFinite);
    return { touching: boxes("success_ours").filter((mark) => theirs.some((other) => touching(mark, other))).length, largest: Math.max(...labels), breaks: figure.plot.querySelectorAll(".sparsity_break_0_marks > path").length };
  }, operation);
  equal(found.touching, 0, `${operation}: no mark of ours touches a published one`);
  const iterations = (cell) => [cell.iterations, ...cell.published.filter(({ what }) => what === "solved-at").map(({ value }) => value)];
  check(found.largest <= Math.max(...cells.flatMap(iterations)), `${operation}: no axis goes beyond the last iteration`, found.largest);
  const zero = own.some((cell) => [cell.sparsity?.[0], ...cell.published.filter(({ what }) => what === "sparsity").map(({ value }) => value)].includes(0));
  if (zero) equal(found.breaks, 1, `${operation}: between the decades and zero the axis is broken`);
}

// Nothing is claimed that was not judged; settings that are not the task's are said at the top.
async function check_claims(page, data, where) {
  const summary = await page.textContent("#summary");
  const { agrees, words } = data.comparison;
  check(agrees === null ? !summary.includes("agree") : summary.includes(agrees ? "it agrees" : "it does not agree"), `${where}: the summary claims what was judged, and nothing else`, summary);
  const last = words.trimEnd().split("\n").at(-1);
  check((await page.textContent("#comparison")).toLowerCase().includes(last.toLowerCase()), `${where}: the comparison is told in words`, last);
  const judged = data.cells.some((cell) => cell.published.some((figure) => figure.agrees === false));
  if (!judged) equal(await page.locator(".differs").count(), 0, `${where}: no cell is marked as different`);
  equal(await page.locator("#changes").count(), data.changes.length ? 1 : 0, `${where}: other settings than the task's have a warning`);
  if (data.changes.length) check((await page.textContent("#changes")).includes(data.changes.join(" ")), `${where}: which names them`, await page.textContent("#changes"));
}

// A box that is narrower than its table says so.
const check_sideways = async (page, where) => {
  const wrong = await page.evaluate(() => [...document.querySelectorAll(".sideways")].filter((hint) => hint.nextElementSibling.getClientRects().length)
    .filter((hint) => hint.hidden !== hint.nextElementSibling.scrollWidth <= hint.nextElementSibling.clientWidth + 1).length);
  equal(wrong, 0, `${where}: tables wider than their box say so, and only those`);
};

// The key of lines shows them as they are drawn: the same dashes in the same order.
const check_line_keys = async (page, figure, where) => {
  await bring(page, figure);
  const [keys, lines] = await page.evaluate((id) => {
    const dashes = (selector) => [...document.querySelectorAll(`#figure-${id} ${selector}`)].map((line) => (line.getAttribute("stroke-dasharray") ?? "").replace(/,/g, " ").replace(/^1 0$/, ""));
    return [dashes(".legend svg.line line"), dashes(".plot g.mark-line > path")];
  }, figure);
  equal(keys, lines, `${where}: the key of ${figure} has the dashes of its lines`);
  check(new Set(keys).size > 1, `${where}: which differ`, keys);
};

// The report of a task. `few`: its cells are drawn as marks, not as a map.
async function check_task(browser, file, few, where) {
  const page = await open(browser, file);
  const data = await page.evaluate(() => nalm.data);
  const { cells } = data;
  const first = await page.evaluate(() => Math.round(nalm.figures.first));
  console.log(`     first figure after ${first} ms, ${cells.length} cells, ${fs.statSync(file).size} bytes`);
  check(first < 5000, `${where}: the first figure is drawn within five seconds`, `${first} ms`);
  equal(await page.textContent("h1"), data.title, `${where}: the heading is the title`);
  const runs = cells.reduce((total, cell) => total + cell.runs, 0).toLocaleString("en");
  check((await page.textContent("#summary")).startsWith(`${runs} run`), `${where}: the summary counts the runs`, await page.textContent("#summary"));
  await check_structure(page, where);
  await draw_all(page);
  await shot(page, `${where}-light.png`, { fullPage: true });

  // overview
  await bring(page, "overview");
  const whats = await page.locator("#choose-what option").allTextContents();
  equal(whats.length, data.measures.length + (cells.some((cell) => cell.goal) ? 1 : 0), `${where}: the success rate and every measure can be looked at`);
  for (let what = 0; what < Math.min(whats.length, 3); ++what) {
    await page.selectOption("#choose-what", String(what));
    await bring(page, "overview");
    const key = whats[what].startsWith("Success") ? "success" : data.measures[what - (whats.length - data.measures.length)].name;
    const has = (cell) => cell.runs > 0 && (key === "success" ? cell.goal : cell.measures.some((measure) => measure.name === key));
    const theirs = cells.flatMap((cell) => cell.published.filter((figure) => figure.what === key));
    if (few) {
      equal([await marks(page, "overview_ours", "#figure-overview"), await marks(page, "overview_bars", "#figure-overview", "line"), await marks(page, "overview_published", "#figure-overview")],
        [cells.filter(has).length, cells.filter(has).length, theirs.length], `${where}: ${whats[what]}: a mark and a bar for every cell, and those published`);
    } else {
      equal(await page.locator("#figure-overview .mark-rect path").count(), cells.length, `${where}: ${whats[what]}: a field for every cell`);
    }
  }
  const mark = page.locator(`#figure-overview .${few ? "overview_ours_marks" : "mark-rect"} path`).first();
  const told = await tip_of(page, mark, (tip) => tip.includes("Runs"));
  check(told.includes("Runs"), `${where}: a mark tells its numbers`, told);
  await mark.click({ force: true });
  equal(await page.locator(".cells tr.chosen").count(), 1, `${where}: a click chooses a cell`);

  // the table, and the chosen cell
  equal(await page.locator(".cells tbody tr").count(), cells.length, `${where}: the table has a row for every cell`);
  equal(await page.evaluate(() => [...document.querySelectorAll(".cells tbody tr")].map((row) => row.children[0].textContent)), cells.map((cell) => cell.model), `${where}: in their order`);
  const outline = () => page.locator("#figure-curves .mark-line path").evaluateAll((paths) => paths.map((each) => each.getAttribute("d")).join(" "));
  const lines = (kind) => page.locator(`#figure-curves .${kind}`).count();
  const chosen_cells = [cells.at(-1), cells[0]];
  const outlines = [];
  for (const cell of chosen_cells) {
    await page.locator(`.cells tr[data-cell="${cells.indexOf(cell)}"] .row-button`).press("Enter");
    await bring(page, "curves");
    outlines.push(await outline());
    equal(await page.textContent("#figure-curves h3"), [cell.model, cell.operation, cell.setting].filter(Boolean).join(", "), `${where}: a row chooses its cell`);
    equal(await lines("mark-line path"), cell.seeds.length + 1, `${where}: a line for every run, and their median`);
    equal(await page.locator("#curves .runs tbody tr").count(), cell.seeds.length, `${where}: its runs are listed`);
    const notes = cell.seeds.map((run) => run.note).filter(Boolean);
    check(!notes.length || (await page.textContent("#curves .runs tbody")).includes(notes[0]), `${where}: with what they found`);
    equal(await lines("threshold_marks line"), cell.goal ? 1 : 0, `${where}: the goal has its line`);
    await bring(page, "values");
    const sized = (name) => /^.* at 1e\d+$/.test(name);  // one curve over the size instead of a panel each
    equal(await Promise.all(cell.measures.map((_, m) => marks(page, `strip_${m}`, "#figure-values"))), cell.measures.map(({ name }) => (sized(name) ? 0 : cell.seeds.length)), `${where}: a dot for every judged value`);
    if (cell.measures.filter(({ name }) => sized(name)).length > 2) {
      await bring(page, "sizes");
      const kinds = new Set(cell.measures.filter(({ name }) => sized(name)).map(({ name }) => name.replace(/ at 1e.*/, "")));
      const beside = cells.filter((each) => each.setting === cell.setting && each.runs);
      equal(await page.locator("#figure-sizes .mark-line path").count(), kinds.size * beside.length, `${where}: a curve over the size of the numbers for every cell and kind`);
    }
  }
  check(outlines[0] !== outlines[1], `${where}: another cell has other curves`);
  const varying = ["model", "operation", "setting"].find((part) => new Set(cells.map((cell) => cell[part])).size > 1);
  const wanted = cells.find((cell) => cell[varying] !== cells[0][varying]);
  await page.selectOption(`#choose-${varying}`, wanted[varying]);
  await bring(page, "curves");
  check((await page.textContent("#figure-curves h3")).includes(wanted[varying]) && (await outline()) !== outlines[1], `${where}: so does one from the drop-downs`, await page.textContent("#figure-curves h3"));
  const before = await outline();
  const measures = await page.locator("#choose-measure option").allTextContents();
  const other = measures.find((name) => name !== wanted.goal?.measure);
  if (measures.length > 1) {
    await page.selectOption("#choose-measure", other);
    await bring(page, "curves");
    check((await outline()) !== before, `${where}: another measure draws other lines`);
  }
  const spot = await page.evaluate(() => {
    const line = document.querySelector("#figure-curves .mark-line path");
    const at = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());
    return [at.x, at.y];
  });
  await page.mouse.move(...spot);
  check(/^Seed \d+/.test(await page.textContent(".tip")), `${where}: a line tells its values`, await page.textContent(".tip"));
  await page.mouse.move(2, 2);
  const settings = await page.textContent("#settings");
  check([data.settings_text, ...data.differences, ...data.facts.flat()].every((text) => settings.includes(text)), `${where}: settings, differences and how it was made are there`);
  await check_claims(page, data, where);
  await check_sideways(page, where);

  await check_downloads(page, "overview", ["All cells", data.task]);
  await check_downloads(page, "curves", ["Learning curves", "median", "Iteration"]);
  await check_downloads(page, "values", ["Judged values", "MAD"]);
  const paper = await page.pdf({ preferCSSPageSize: true });
  check(paper.subarray(0, 5).toString() === "%PDF-" && paper.length > 20000, `${where}: prints to a PDF`, paper.length);
  await page.evaluate(() => scrollTo(0, 0));
  await check_dark(page, `#figure-overview .${few ? "overview_ours_marks" : "mark-rect"} path`, where);
  await draw_all(page);
  await shot(page, `${where}-dark.png`, { fullPage: true });
  await check_print(page, where);
  await check_silence(page, where);
  await page.close();
  await check_task_on_phone(browser, file, where);
}
async function check_task_on_phone(browser, file, where) {
  const phone = await open(browser, file, { viewport: { width: 380, height: 800 }, hasTouch: true, isMobile: true }, "main section");
  await draw_all(phone);
  equal(await overflow(phone), { extra: 0, wide: [] }, `${where}: nothing sticks out of a phone of 380 pixels`);
  await shot(phone, `${where}-phone.png`, { fullPage: true });
  await check_silence(phone, `${where} on a phone`);
  await phone.close();
}
const check_many_cells = (browser) => check_task(browser, options.map, false, "map");

// The same page with other data.
function with_data(file, name, change) {
  const text = fs.readFileSync(file, "utf8");
  const [head, tail] = [text.indexOf('id="nalm-data">') + 15, text.indexOf("</script", text.indexOf('id="nalm-data">'))];
  const data = JSON.parse(text.slice(head, tail));
  change(data);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "nalm-task-"));
  const copy = path.join(folder, name);
  fs.writeFileSync(copy, text.slice(0, head) + JSON.stringify(data).replaceAll("<", "\\u003c") + text.slice(tail));
  return { copy, data, remove: () => fs.rmSync(folder, { recursive: true }) };
}
const without_runs = (cell) => Object.assign(cell, {
  runs: 0, successes: 0, success: [null, null, null], solved_at: null, seeds: [], curves: "",
  measures: cell.measures.map((measure) => ({ ...measure, median: null, mad: null, smallest: null, largest: null, span: null })),
});

async function check_few_cells(browser) {
  await check_task(browser, options.task, true, "task");

  const part = with_data(options.task, "part.html", (data) => { data.cells.slice(1).forEach(without_runs); data.missing = 9; });
  let page = await open(browser, part.copy);
  check((await page.textContent("#summary")).includes("9 runs are still missing"), "part: what is missing is told", await page.textContent("#summary"));
  equal(await marks(page, "overview_ours", "#figure-overview"), 1, "part: the overview has the cells that were run");
  equal(await marks(page, "overview_missing", "#figure-overview", "text"), part.data.cells.length - 1, "part: and names the others");
  await page.locator('.cells tr[data-cell="1"] .row-button').press("Enter");
  check(!(await page.isVisible("#figure-curves")) && (await page.textContent("#curves")).includes("no runs yet"), "part: a cell without runs says so");
  await page.locator('.cells tr[data-cell="0"] .row-button').press("Enter");
  await bring(page, "curves");
  equal(await page.locator("#figure-curves .mark-line path").count(), part.data.cells[0].runs + 1, "part: one with runs still has its curves");
  await check_silence(page, "part");
  await page.close();
  part.remove();

  const nothing = with_data(options.task, "nothing.html", (data) => { data.cells.forEach(without_runs); });
  page = await open(browser, nothing.copy);
  check((await page.textContent("#summary")).startsWith("No runs yet"), "nothing: a store without runs has a page", await page.textContent("#summary"));
  await check_silence(page, "nothing");
  await page.close();
  nothing.remove();

  const bad = (text) => `<img src=x onerror=alert(1)>"'&\\${text}`;
  const hostile = with_data(options.task, "hostile.html", (data) => {
    for (const name of ["title", "source", "settings_text", "command", "version", "goal", "preset"]) data[name] = bad(data[name]);
    for (const name of ["words", "remark"]) data.comparison[name] = bad(data.comparison[name]);
    for (const name of ["model", "setting"]) data.words[name] = bad(data.words[name]);
    data.changes = [bad("--recipe")];
    data.facts = data.facts.map((pair) => pair.map(bad));
    data.recipes = [[[bad("names")], JSON.stringify({ [bad("kind")]: bad("value") })], [["other"], "{}"]];
    data.differences.push(bad("difference"));
    data.reproduce = data.reproduce.map(bad);
    for (const table of data.tables) {
      table.notes.push(bad("note"));
      table.headings = table.headings.map(bad);
      table.rows.forEach((row) => { row[0] = bad(row[0]); });
    }
    for (const measure of data.measures) measure.name = bad(measure.name);
    for (const cell of data.cells) {
      for (const name of ["model", "operation", "setting"]) cell[name] = bad(cell[name]);
      for (const measure of cell.measures) measure.name = bad(measure.name);
      if (cell.goal) cell.goal.measure = bad(cell.goal.measure);
      for (const figure of cell.published) Object.assign(figure, { what: bad(figure.what), remark: bad(figure.remark) });
      for (const run of cell.seeds) Object.assign(run, { note: bad(run.note), failure: bad("failure") });
      cell.failures = { [bad("kind")]: 1 };
    }
  });
  page = await open(browser, hostile.copy);
  await draw_all(page);
  equal(await page.textContent("h1"), hostile.data.title, "hostile task: markup is shown as it is");
  equal(await page.locator("#page img").count(), 0, "hostile task: and makes no element");
  const tip = await tip_of(page, page.locator("#figure-overview .overview_ours_marks > path").first(), (text) => text.includes("onerror"));
  check(tip.includes("onerror") && await page.locator(".tip img").count() === 0, "hostile task: nor in a tooltip", tip);
  await check_silence(page, "hostile task");
  await page.close();
  await check_task_on_phone(browser, hostile.copy, "hostile-task");
  hostile.remove();
}

// A report of runs with a single row has no curves, and rates of all cells together.
async function check_runs(browser) {
  const page = await open(browser, options.runs);
  const data = await page.evaluate(() => nalm.data);
  await check_structure(page, "runs");
  await draw_all(page);
  const part = await page.inputValue("#choose-what");
  equal([await marks(page, "overview_ours", "#figure-overview"), await page.locator("#figure-curves").count()], [new Set(data.cells.map((cell) => cell[part])).size, 0], `runs: a rate for every ${part}, and no curves`);
  equal(await page.locator(".cells tbody tr").count(), data.cells.length, "runs: a row for every cell");
  const last = data.cells.at(-1);
  await page.locator(`.cells tr[data-cell="${data.cells.length - 1}"] .row-button`).press("Enter");
  check((await page.textContent("#curves h3")).includes(last.model), "runs: a row chooses its cell", await page.textContent("#curves h3"));
  equal(await page.locator("#curves .runs tbody tr").count(), last.seeds.length, "runs: whose runs are listed");
  await check_claims(page, data, "runs");
  await check_sideways(page, "runs");
  await draw_all(page);
  await check_downloads(page, "overview", ["Success rate", data.task]);
  await shot(page, "runs-light.png", { fullPage: true });
  await check_print(page, "runs");
  await check_silence(page, "runs");
  await page.close();
  await check_task_on_phone(browser, options.runs, "runs");
}

async function check_comparison(browser) {
  const page = await open(browser, options.comparison);
  const data = await page.evaluate(() => nalm.data);
  const { cells, differing } = data.others[0];
  await check_structure(page, "comparison");
  check((await page.textContent("#summary")).includes(`${differing} of them differ`), "comparison: the summary counts cells that differ", await page.textContent("#summary"));
  await page.selectOption("#choose-shown", "all");
  await bring(page, "differences");
  const known = cells.filter((cell) => cell.difference[0] !== null);
  equal([await marks(page, "differences", "#figure-differences"), await marks(page, "bars", "#figure-differences", "line"), await page.locator("#table tbody tr").count()], [known.length, known.length, known.length], "comparison: a mark, an interval and a row for every cell");
  equal(await page.locator("#table tr[data-differs]").count(), differing, "comparison: those that differ say so");
  const places = await page.evaluate(() => [...document.querySelectorAll("#figure-differences .differences_marks > path")].map((each) => each.getAttribute("transform").match(/[\d.-]+/g).map(Number)).sort((a, b) => a[1] - b[1]).map(([x]) => x));
  equal(places, places.toSorted((a, b) => a - b), "comparison: sorted by the difference");
  const operation = cells.at(-1).operation;
  if (new Set(cells.map((cell) => cell.operation)).size > 1) {
    await page.selectOption("#choose-operation", operation);
    await bring(page, "differences");
    equal(await marks(page, "differences", "#figure-differences"), known.filter((cell) => cell.operation === operation).length, "comparison: the filter leaves one operation");
  }
  const tip = await tip_of(page, page.locator("#figure-differences .differences_marks > path").first(), (text) => text.includes("Difference"));
  check(tip.includes("95 % interval") && tip.includes(data.names[0]), "comparison: a mark tells its numbers", tip);
  await page.mouse.move(2, 2);
  check((await page.textContent("#words")).includes(data.words.trimEnd().split("\n").at(-1)), "comparison: and in words");
  await check_sideways(page, "comparison");
  await check_downloads(page, "differences", ["Difference of the success rates", "differs by more than chance"]);
  await check_dark(page, "#figure-differences .differences_marks path", "comparison");
  await shot(page, "comparison-dark.png", { fullPage: true });
  await check_print(page, "comparison");
  await check_silence(page, "comparison");
  await page.close();
  await check_task_on_phone(browser, options.comparison, "comparison");
}

async function check_figure(browser) {
  const page = await open(browser, options.figure);
  const data = await page.evaluate(() => nalm.data);
  await check_structure(page, "figure");
  equal(await page.textContent("h1"), data.title, "figure: the heading is the title");
  equal(await page.locator(".caption p").count(), data.caption.split(/\n\n+/).filter(Boolean).length, "figure: the caption has its paragraphs");
  await draw_all(page);
  const ids = await page.evaluate(() => nalm.figures.map((figure) => figure.id));
  equal(ids.length, data.panels.length, "figure: a drawing for every panel");
  for (const [index, panel] of data.panels.entries()) {
    const scope = `.figure[data-figure="${ids[index]}"]`;
    if (panel.kind === "surface") {
      const pictures = await page.evaluate((selector) => [...document.querySelectorAll(`${selector} image`)].map((each) => (each.getAttribute("href") ?? each.getAttribute("xlink:href")).slice(0, 15)), scope);
      equal(pictures, ["data:image/png;"], `${ids[index]}: the surface is drawn`);
      check(await page.locator(`${scope} .role-legend-gradient path, ${scope} .role-legend-gradient rect`).count() > 0, `${ids[index]}: it has a colour scale`);
      equal(await marks(page, "solutions", scope), (panel.marks ?? []).filter((mark) => mark.point !== false).length, `${ids[index]}: the solutions are marked`);
    } else {
      equal(await page.locator(`${scope} .mark-line path`).count(), panel.series.filter((series) => series.mark !== "point").length, `${ids[index]}: a line for every series`);
      const points = panel.series.filter((series) => series.mark === "point").flatMap((series) => series.values.filter((value) => Number.isFinite(value) && (!panel.y.log || value > 0)));
      equal(await marks(page, "points", scope), points.length, `${ids[index]}: a point for every value of the others`);
    }
    await bring(page, ids[index]);
    const box = await page.locator(`${scope} .plot svg`).boundingBox();
    await page.mouse.move(box.x + box.width * 0.45, box.y + box.height * 0.5);
    check(await page.isVisible(".tip"), `${ids[index]}: pointing tells the values`);
    await page.mouse.move(2, 2);
  }
  const surface = data.panels.findIndex((panel) => panel.kind === "surface");
  const lines = data.panels.findIndex((panel) => panel.kind === "lines");
  if (surface >= 0) await check_downloads(page, ids[surface], [data.panels[surface].title.slice(0, 12), data.panels[surface].x.title]);
  if (lines >= 0) await check_downloads(page, ids[lines], [data.panels[lines].title.slice(0, 12), data.panels[lines].x.title]);
  await shot(page, "figure-light.png", { fullPage: true });
  await check_dark(page, `.figure .mark-text text`, "figure");
  await shot(page, "figure-dark.png", { fullPage: true });
  await check_print(page, "figure");
  await check_silence(page, "figure");
  await page.close();
  const phone = await open(browser, options.figure, { viewport: { width: 380, height: 800 }, hasTouch: true, isMobile: true });
  await draw_all(phone);
  equal(await overflow(phone), { extra: 0, wide: [] }, "figure: nothing sticks out of a phone of 380 pixels");
  await shot(phone, "figure-phone.png", { fullPage: true });
  await check_silence(phone, "figure on a phone");
  await phone.close();
}

// Headings that skip no level, tables with heads, drawings with a text.
async function check_reading(page, where) {
  const found = await page.evaluate(() => {
    const levels = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map((each) => Number(each.localName[1]));
    return {
      skipped: levels.filter((level, at) => level > (levels[at - 1] ?? 0) + 1).length,
      headless: [...document.querySelectorAll("table")].filter((each) => !each.querySelector("th[scope]")).length,
      unboxed: [...document.querySelectorAll("table")].filter((each) => !each.closest(".box")).length,
      silent: [...document.querySelectorAll(".plot")].filter((each) => (each.getAttribute("aria-label") ?? "").length < 30).length,
    };
  });
  equal(found, { skipped: 0, headless: 0, unboxed: 0, silent: 0 }, `${where}: headings in order, tables with heads and in boxes, drawings with a text`);
}
const SET_NAMES = ["train", "held_out", "outside"];

async function check_fit(browser) {
  const page = await open(browser, options.fit, {}, "main section");
  const data = await page.evaluate(() => nalm.data);
  check((await page.title()).includes(data.target), "fit: the window names the target", await page.title());
  await shot(page, "fit-light.png");
  await check_structure(page, "fit");
  await draw_all(page);
  await check_reading(page, "fit");

  // the head
  equal(await page.evaluate(() => [document.querySelector(".formula math").getAttribute("display"), document.querySelectorAll(".formula msup").length]), ["block", 1], "fit: the formula is typeset");
  check((await page.textContent(".formula")).startsWith(`${data.target}=`), "fit: and begins with the target", await page.textContent(".formula"));
  equal(await page.textContent("#formula-text"), `${data.target} = ${data.formula}`, "fit: the formula as text");
  equal(await page.textContent("#verdict"), `Law. ${data.verdict}`, "fit: the verdict has a word and a sentence");
  const agreement = await page.textContent("#agreement");
  check(["agreeing", "converged", "restarts"].every((name) => agreement.includes(String(data.agreement[name]))) && agreement.includes("Verified"), "fit: agreement and verification are told", agreement);
  const repeat = await page.textContent("#repeat");
  check([data.command, data.seed, data.version].every((text) => repeat.includes(text)), "fit: command, seed and version are there", repeat);
  for (const [what, expected] of [["text", `${data.target} = ${data.formula}`], ["latex", data.latex]]) {
    // what was copied is pasted into a field: reading the clipboard would need a permission
    await page.click(`[data-copy="${what}"]`);
    await page.waitForFunction((name) => document.querySelector(`[data-copy="${name}"]`).textContent === "Copied", what);
    await page.evaluate(() => { const field = document.createElement("textarea"); field.id = "paste"; document.body.append(field); field.focus(); });
    await page.keyboard.press("Control+V");
    equal(await page.inputValue("#paste"), expected, `fit: the button copies the formula (${what})`);
    await page.evaluate(() => document.getElementById("paste").remove());
  }

  // errors and constants
  equal(await page.evaluate(() => [...document.querySelectorAll(".errors tbody tr")].map((row) => [row.dataset.set, Number(row.cells[1].textContent)])), SET_NAMES.map((set) => [set, data.errors[set].rows]), "fit: a row of errors for every set");
  equal([await page.locator(".constants tbody tr").count(), await page.locator(".constants .gauge i").count()], [data.constants.length, data.constants.length], "fit: every constant has its interval");
  equal((await page.textContent(".constants tbody")).match(/rounded to a simple number/g).length, data.constants.filter((each) => each.snapped).length, "fit: those that were rounded say so");

  // rows
  const rows = data.points.set.flatMap((set, at) => (data.points.target[at] === null || data.points.predicted[at] === null ? [] : [set]));
  const panels = data.points.inputs.length + 1;
  const drawn = async () => [await marks(page, "points", "#figure-predicted"), await marks(page, "points", "#figure-edge"), ...await Promise.all(Array.from({ length: panels }, (_, at) => marks(page, `residual_${at}`, "#figure-residuals")))];
  const all = (number_of) => Array(panels + 2).fill(number_of);
  equal(await drawn(), all(rows.length), "fit: a mark for every row with a prediction, in every drawing");
  const hidden = rows.filter((set) => set === "held_out").length;
  await page.click('#figure-predicted .key[data-set="held_out"]');
  await draw_all(page);
  equal(await drawn(), all(rows.length - hidden), "fit: a click in a legend hides a set everywhere");
  await page.click('#figure-residuals .key[data-set="held_out"]');
  await draw_all(page);
  equal(await drawn(), all(rows.length), "fit: and shows it again");
  equal(await page.evaluate(() => new Set([...document.querySelectorAll("#figure-predicted .key path")].map((each) => each.getAttribute("d"))).size), 3, "fit: the sets differ in shape, not only in colour");
  equal([await page.locator("#figure-predicted .diagonal_marks path").count(), await page.locator("#figure-edge .edge_marks line").count(), await page.locator("#figure-edge .reach_marks line").count()], [1, 1, 1], "fit: the diagonal, the edge of the data and the reach of the training are drawn");
  const outline = () => page.evaluate(() => [...document.querySelectorAll("#figure-predicted .points_marks path")].map((each) => each.getAttribute("transform")).join());
  const before = await outline();
  await bring(page, "predicted");
  await page.uncheck("#toggle-log");
  await bring(page, "predicted");
  check((await outline()) !== before && await marks(page, "points", "#figure-predicted") === rows.length, "fit: the scale need not be logarithmic");
  await page.check("#toggle-log");
  await bring(page, "predicted");
  equal(await outline(), before, "fit: and can be again");
  for (const [figure, words] of [["predicted", ["residual", data.target]], ["edge", ["distance"]], ["residuals", [data.points.inputs[0].name]], ["candidates", ["size"]]]) {
    await bring(page, figure);
    const holds = (text) => words.every((word) => text.includes(word));
    const tip = await tip_of(page, page.locator(`#figure-${figure} .mark-symbol path`).last(), holds);
    check(holds(tip), `${figure}: a mark tells its numbers`, tip);
    await page.mouse.move(2, 2);
  }

  // candidates, weights, probe
  equal([await page.locator(".candidates tbody tr").count(), await page.locator(".candidates tr.chosen").count(), await page.locator(".candidates math").count()], [data.candidates.length, 1, data.candidates.length], "candidates: a typeset row for each, one chosen");
  check((await page.textContent(".candidates tr.chosen")).startsWith("chosen"), "candidates: in words too");
  equal([await marks(page, "candidates", "#figure-candidates"), await marks(page, "rings", "#figure-candidates")], [3 * data.candidates.length, 3], "candidates: a mark for every error, the chosen ones ringed");
  const values = data.layers.flatMap((layer) => layer.parameters.flatMap((parameter) => parameter.values.flat()));
  equal(await page.evaluate(() => [...document.querySelectorAll(".heat-map td[data-value]")].map((each) => Number(each.dataset.value))), values, "weights: a cell for every number");
  equal(await page.evaluate(() => [...document.querySelector(".heat-map").querySelectorAll("tbody th")].map((each) => each.textContent)), data.columns, "weights: the first layer's rows are the columns");
  equal(await page.evaluate(() => [...document.querySelectorAll(".probe tbody th")].map((each) => each.textContent)), data.probe.box.map((each) => each.column), "probe: a row for every column");
  check((await page.textContent("#probe")).includes(data.probe.remarks[0]), "probe: the remarks are there");

  await check_downloads(page, "predicted", ["Predicted against true", "held-out rows", data.target]);
  await check_downloads(page, "edge", ["Towards the edge", "edge of the data"]);
  await check_downloads(page, "residuals", ["Residuals", ...data.points.inputs.map((each) => each.name)]);
  await check_downloads(page, "candidates", ["Error against size", "training rows", "chosen"]);
  const paper = await page.pdf({ preferCSSPageSize: true });
  check(paper.subarray(0, 5).toString() === "%PDF-" && paper.length > 20000, "fit: prints to a PDF", paper.length);
  if (options.shots) fs.writeFileSync(path.join(options.shots, "fit.pdf"), paper);
  await check_dark(page, "#figure-predicted .points_marks path", "fit");
  await shot(page, "fit-dark.png", { fullPage: true });
  await check_print(page, "fit");
  await check_silence(page, "fit");
  await page.close();

  const phone = await open(browser, options.fit, { viewport: { width: 380, height: 800 }, hasTouch: true, isMobile: true }, "main section");
  await draw_all(phone);
  equal(await overflow(phone), { extra: 0, wide: [] }, "fit: nothing sticks out of a phone of 380 pixels");
  await shot(phone, "fit-phone.png", { fullPage: true });
  await check_silence(phone, "fit on a phone");
  await phone.close();
}

// Texts of the file are texts on the page, whatever they look like.
async function check_hostile(browser) {
  const page = await open(browser, options.hostile, {}, "main section");
  const data = await page.evaluate(() => nalm.data);
  check(data.target.includes("<img") && data.mathml.includes("onerror"), "hostile: the file is what it should be", data.target);
  await draw_all(page);
  await check_reading(page, "hostile");
  check((await page.textContent("h1")).includes(data.target), "hostile: markup in a name is shown as it is", await page.textContent("h1"));
  const found = await page.evaluate(() => ({
    alien: [...document.querySelectorAll("#page :is(img, script, iframe, a:not([href^='#']), [href^='javascript'], object)")].map((each) => each.outerHTML.slice(0, 80)),
    handlers: [...document.querySelectorAll("#page *")].filter((each) => [...each.attributes].some(({ name }) => name.startsWith("on"))).length,
    attributes: [...new Set([...document.querySelectorAll("math, math *")].flatMap((each) => [...each.attributes].map(({ name }) => name)))],
    math: document.querySelectorAll("math").length, plain: document.querySelectorAll(".formula .plain").length,
  }));
  // of five typeset formulas one holds nothing but what is allowed
  equal(found, { alien: [], handlers: 0, attributes: ["mathvariant"], math: 1, plain: 1 }, "hostile: no element, no handler and no attribute comes from the file");
  equal(await page.locator("#probe li").allTextContents(), data.probe.remarks, "hostile: remarks are text");
  await bring(page, "predicted");
  const of_point = await tip_of(page, page.locator("#figure-predicted .points_marks path").first(), (text) => text.includes("</script>"));
  check(of_point.includes("</script>") && await page.locator(".tip img").count() === 0, "hostile: names in a tooltip are text", of_point);
  const of_weight = await tip_of(page, page.locator(".heat-map td[data-value]").first(), (text) => text.includes(data.columns[0]));
  check(of_weight.includes(data.columns[0]) && await page.locator(".tip img").count() === 0, "hostile: and in that of a weight", of_weight);
  await page.mouse.move(2, 2);
  await check_downloads(page, "residuals", ["Residuals", "<img src=x", "__proto__"]);
  await shot(page, "hostile.png", { fullPage: true });
  await check_silence(page, "hostile");
  await page.close();
  const phone = await open(browser, options.hostile, { viewport: { width: 380, height: 800 }, hasTouch: true, isMobile: true }, "main section");
  await draw_all(phone);
  equal(await overflow(phone), { extra: 0, wide: [] }, "hostile: nothing sticks out of a phone of 380 pixels");
  await check_silence(phone, "hostile on a phone");
  await phone.close();
}

// A picture that has no script: drawn, whole, with letters that can be read, on a page in light or dark.
async function check_drawings(page, where, scheme) {
  equal(await overflow(page), { extra: 0, wide: [] }, `${where}: nothing sticks out`);
  const drawings = await page.evaluate(() => [...document.querySelectorAll("main svg")].filter((svg) => svg.getClientRects().length > 0).map((svg) => {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map((text) => ({ words: text.textContent, size: parseFloat(text.getAttribute("font-size")) * text.getScreenCTM().a, box: text.getBoundingClientRect() }));
    // what a box says stays in it
    const frames = [...svg.querySelectorAll("rect[rx]")].map((each) => each.getBoundingClientRect());
    const within = (box, x, y) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
    const beyond = texts.filter(({ box }) => frames.some((each) => within(each, (box.left + box.right) / 2, (box.top + box.bottom) / 2) && (box.left < each.left - 1 || box.right > each.right + 1)));
    const tips = [...svg.querySelectorAll("[marker-end]")].filter((each) => !svg.querySelector(each.getAttribute("marker-end").replace(/^url\(|\)$/g, "")));
    return {
      texts: texts.length, least: Math.min(...texts.map(({ size }) => size)),
      outside: texts.filter(({ box }) => box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1).map(({ words }) => words),
      beyond: beyond.map(({ words }) => words), tips: tips.length, hidden: svg.parentElement.scrollWidth - svg.parentElement.clientWidth,
      paper: getComputedStyle(svg.querySelector("rect")).fill,
    };
  }));
  check(drawings.length > 0 && drawings.every(({ texts }) => texts > 5), `${where}: the picture is drawn`, drawings.length);
  equal(drawings.flatMap(({ outside, beyond }) => [...outside, ...beyond]), [], `${where}: no word leaves the picture or its box`);
  check(drawings.every(({ least }) => least >= 9.4), `${where}: letters are large enough to read`, drawings.map(({ least }) => least));
  equal(drawings.map(({ tips, hidden }) => [tips, hidden]), drawings.map(() => [0, 0]), `${where}: it has its arrows, and nothing to scroll to`);
  check(drawings.every(({ paper }) => (scheme === "dark" ? lightness(paper) < 60 : lightness(paper) > 200)), `${where}: the picture follows the system`, drawings.map(({ paper }) => paper));
}

// Pages without a script: a lesson with pictures of modules, and every page of a folder with one picture each.
async function check_plain(browser, name, file, settings) {
  for (const [width, scheme] of settings) {
    const where = `${name}, ${width} pixels, ${scheme}`;
    const page = await open(browser, file, { viewport: { width, height: 900 }, colorScheme: scheme }, "main svg:visible");
    await check_drawings(page, where, scheme);
    await check_contrast(page, where);
    equal(page.said, [], `${where}: the console is empty`);
    equal(page.asked, [], `${where}: nothing is requested but the file itself`);
    await shot(page, `${name}-${width}.png`, { fullPage: true });
    await page.close();
  }
}
const check_lesson = (browser) => check_plain(browser, "lesson", options.lesson, [[1280, "light"], [390, "dark"]]);
async function check_pictures(browser) {
  const files = fs.readdirSync(options.pictures).filter((file) => file.endsWith(".html"));
  check(files.length > 40, "pictures: a page for every module", files.length);
  for (const file of files) await check_plain(browser, file.replace(".html", ""), path.join(options.pictures, file), [[390, "light"], [1280, "dark"]]);
}

const begun = Date.now();
const browser = await playwright.chromium.launch({ executablePath: BROWSER, args: FLAGS });
for (const [name, run] of [["report", check_report], ["task", check_few_cells], ["map", check_many_cells], ["runs", check_runs], ["comparison", check_comparison], ["figure", check_figure], ["fit", check_fit], ["hostile", check_hostile], ["lesson", check_lesson], ["pictures", check_pictures]]) {
  if (!options[name]) continue;
  try {
    await run(browser);
  } catch (error) {
    check(false, `${name}: the checks run to their end`, error.message.split("\n").slice(0, 6).join(" / "));
  }
}
await browser.close();
console.log(`${checks - failures} of ${checks} checks hold, ${((Date.now() - begun) / 1000).toFixed(1)} s`);
process.exit(failures ? 1 : 0);
