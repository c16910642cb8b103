// Explanatory figures: panels of lines or surfaces under a title and a caption. The shell provides `nalm`.
"use strict";
(() => {
  const { data, make, note_key, line_look, line_key, number, log_ticks, wrap, smallest, largest, show_tip, hide_tip, Figure } = nalm;
  const SIGNED = [[166, 74, 0], [236, 152, 84], [246, 246, 244], [94, 165, 214], [0, 84, 148]];  // below 0 orange, above it blue
  const usable = (value) => typeof value === "number" && Number.isFinite(value);
  const file_name = (title, index) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || `panel-${index + 1}`;
  const nearest = (list, value) => list.reduce((best, each, index) => (Math.abs(each - value) < Math.abs(list[best] - value) ? index : best), 0);
  // The pointer within the drawing as [x, y] of the data, or null outside.
  const under = (figure, event) => {
    if (!figure.old || figure.dirty) return null;
    const [across, down] = figure.position(event);
    const x = figure.old.scale("x");
    const y = figure.old.scale("y");
    if (across < -4 || down < -4 || across > x.range()[1] + 4 || down > y.range()[0] + 4) return null;
    return { x: x.invert(across), y: y.invert(down), down, scale: y };
  };
  const listen = (figure, move) => {
    if (figure.listening) return;
    figure.listening = true;
    figure.plot.addEventListener("pointermove", move);
    figure.plot.addEventListener("pointerleave", hide_tip);
  };

  // ---- lines ---------------------------------------------------------------------------------------------------
  function line_figure(panel, index) {
    const looks = panel.series.map((series, at) => line_look(at));
    const xs = panel.x.values;
    const build = (context) => {
      const rows = panel.series.flatMap((series, at) => xs.map((x, place) => ({ series: at, x, y: usable(series.values[place]) ? series.values[place] : null })));
      const x = { field: "x", type: "quantitative", scale: { domain: [smallest(xs), Math.max(largest(xs), smallest(xs) + 1e-12)], nice: false, zero: false },
        axis: { title: panel.x.title, grid: false, tickCount: context.narrow ? 5 : 8, labelExpr: "nalmNumber(datum.value)", labelFlush: true } };
      const y = { field: "y", type: "quantitative", scale: { zero: false, nice: true }, axis: { title: null, domain: false, ticks: false, tickCount: 6, labelExpr: "nalmNumber(datum.value)", minExtent: 40 } };
      const choose = (what) => ({ condition: looks.map((look, at) => ({ test: `datum.series === ${at}`, value: what(look) })), value: "black" });
      const line = { name: "lines", data: { values: rows }, mark: { type: "line", strokeWidth: 2, strokeJoin: "round" },
        encoding: { x, y, detail: { field: "series", type: "nominal" }, stroke: choose((look) => context.colour(look.colour)), strokeDash: { ...choose((look) => look.dash), value: [1, 0] } } };
      return { title: { text: panel.y.title }, width: context.width - 62, height: context.narrow ? 240 : 320, layer: [line] };
    };
    const figure = new Figure({
      id: file_name(panel.title, index), title: panel.title, level: 2, build, reserve: 380, file_width: 760,
      subtitle: () => [data.title, data.version],
      keys: (context) => (panel.series.length < 2 ? [] : panel.series.map(({ name }, at) => ({ label: name, colour: context.colour(looks[at].colour), dash: looks[at].dash }))),
      describe: () => `${panel.title}: ${panel.y.title} over ${panel.x.title}, ${panel.series.map((series) => series.name).join(", ")}.`,
      drawn: (view, self) => listen(self, (event) => {
        const at = under(self, event);
        if (!at) { hide_tip(); return; }
        const index_of = nearest(xs, at.x);
        show_tip({ title: `${panel.x.title} ${number(xs[index_of])}`, rows: panel.series.filter((series) => usable(series.values[index_of])).map((series) => [series.name, number(series.values[index_of])]) }, event);
      }),
    });
    if (panel.series.length > 1) {
      figure.legend.append(...panel.series.map(({ name }, at) => note_key(line_key(looks[at]), name)));
    }
    return figure;
  }

  // ---- surfaces ------------------------------------------------------------------------------------------------
  // Polylines along which the grid takes the value `level`: the crossings of the sides of each square, joined.
  function contour(grid, level) {
    const rows = grid.length;
    const columns = grid[0].length;
    const ends = new Map();  // side of the grid -> pieces that end there
    const pieces = [];
    const point_of = (row, column, down) => {
      const from = grid[row][column];
      const to = down ? grid[row + 1][column] : grid[row][column + 1];
      const part = (level - from) / (to - from);
      return down ? [column, row + part] : [column + part, row];
    };
    const side = (row, column, down) => (row * columns + column) * 2 + (down ? 1 : 0);
    const crossed = (a, b) => a < level !== b < level;
    for (let row = 0; row + 1 < rows; ++row) {
      for (let column = 0; column + 1 < columns; ++column) {
        const corners = [grid[row][column], grid[row][column + 1], grid[row + 1][column + 1], grid[row + 1][column]];
        if (corners.some((value) => value === null)) continue;
        const hits = [];
        if (crossed(corners[0], corners[1])) hits.push([row, column, false]);
        if (crossed(corners[1], corners[2])) hits.push([row, column + 1, true]);
        if (crossed(corners[3], corners[2])) hits.push([row + 1, column, false]);
        if (crossed(corners[0], corners[3])) hits.push([row, column, true]);
        for (let hit = 0; hit + 1 < hits.length; hit += 2) pieces.push([hits[hit], hits[hit + 1]]);
      }
    }
    pieces.forEach((piece, index) => piece.forEach((hit) => {
      const key = side(...hit);
      if (!ends.has(key)) ends.set(key, []);
      ends.get(key).push(index);
    }));
    const used = new Array(pieces.length).fill(false);
    // Walks from piece to piece, leaving each by the end it was not entered at.
    const walk = (start, hit) => {
      const line = [];
      let piece = start;
      let from = side(...hit);
      while (piece !== undefined && !used[piece]) {
        used[piece] = true;
        const next = side(...pieces[piece][0]) === from ? pieces[piece][1] : pieces[piece][0];
        line.push(point_of(...next));
        from = side(...next);
        piece = ends.get(from).find((other) => !used[other]);
      }
      return line;
    };
    const lines = [];
    pieces.forEach((piece, index) => {
      if (used[index]) return;
      const forth = [point_of(...piece[0]), ...walk(index, piece[0])];
      const other = ends.get(side(...piece[0])).find((each) => !used[each]);
      const back = other === undefined ? [] : walk(other, piece[0]);
      lines.push([...back.reverse(), ...forth]);
    });
    return lines;
  }

  function surface_figure(panel, index) {
    const xs = panel.x.values;
    const ys = panel.y.values;
    const log = Boolean(panel.z.log);
    const limit = usable(panel.z.limit) ? panel.z.limit : Infinity;
    const level = (value) => {
      if (!usable(value) || (log && value <= 0)) return null;
      return log ? Math.log10(Math.min(value, limit)) : Math.min(value, limit);
    };
    const grid = panel.values.map((row) => row.map(level));
    const known = grid.flat().filter((value) => value !== null);
    let low = known.length ? smallest(known) : 0;
    let high = known.length ? largest(known) : 1;
    if (log && high - low > 12) low = high - 12;  // a few tiny values must not take all the colours
    if (panel.z.span) [low, high] = panel.z.span.map((value) => (log ? Math.log10(value) : value));  // the same in all panels
    if (!(high > low)) { low -= 0.5; high += 0.5; }
    const clipped = panel.values.some((row) => row.some((value) => usable(value) && value > limit));
    const viridis = vega.scheme("viridis");
    const bytes_of = (share) => {
      if (!panel.z.signed) return viridis(share).match(/[\d.]+/g).map(Number);
      const at = share * (SIGNED.length - 1);
      const from = Math.min(Math.floor(at), SIGNED.length - 2);
      return SIGNED[from].map((part, index) => part + (SIGNED[from + 1][index] - part) * (at - from));
    };
    const palette = Array.from({ length: 1024 }, (_, at) => bytes_of(at / 1023));

    // A picture of the grid. Values between those of the grid are interpolated, so that edges are smooth.
    const paint = () => {
      const [width, height] = [480, 480];
      const between = (length, at, pixels) => {
        const place = ((length - 1) * (at + 0.5)) / pixels;
        const from = Math.min(Math.floor(place), length - 2);
        return [from, place - from];
      };
      const columns = Array.from({ length: width }, (_, at) => between(xs.length, at, width));
      const rows = Array.from({ length: height }, (_, at) => between(ys.length, height - 1 - at, height));
      const value_at = ([row, down], [column, across]) => {
        const corners = [grid[row][column], grid[row][column + 1], grid[row + 1][column], grid[row + 1][column + 1]];
        if (corners.some((value) => value === null)) return null;
        return (1 - down) * ((1 - across) * corners[0] + across * corners[1]) + down * ((1 - across) * corners[2] + across * corners[3]);
      };
      const canvas = make("canvas", { width, height });
      const pen = canvas.getContext("2d");
      const picture = pen.createImageData(width, height);
      rows.forEach((row, y) => columns.forEach((column, x) => {
        const value = value_at(row, column);
        const colour = value === null ? null : palette[Math.round(1023 * Math.max(0, Math.min(1, (value - low) / (high - low))))];
        const at = 4 * (y * width + x);
        // where there is no value, a grey weave
        const [red, green, blue] = colour ?? ((x + y) % 8 < 2 ? [150, 150, 150] : [205, 205, 205]);
        picture.data.set([red, green, blue, 255], at);
      }));
      pen.putImageData(picture, 0, 0);
      return canvas.toDataURL("image/png");
    };
    let picture = null;
    let isolines = null;
    const interpolate = (list, at) => {
      const from = Math.min(Math.floor(at), list.length - 2);
      return list[from] + (list[from + 1] - list[from]) * (at - from);
    };
    const trace = () => {
      if (xs.length < 2 || ys.length < 2) return [];
      const levels = log ? log_ticks(low, high, 8).filter((value) => value > low && value < high)
        : vega.scale("linear")().domain([low, high]).ticks(8).filter((value) => value > low && value < high);
      // A trench that is narrower than the grid shows as a row of dashes, which is no line of equal height.
      const long = (line) => line.length > 8;
      return levels.flatMap((at, number_of) => contour(grid, at).filter(long).flatMap((line, part) =>
        line.map(([column, row], order) => ({ line: `${number_of}.${part}`, order, x: interpolate(xs, column), y: interpolate(ys, row) }))));
    };
    const marks = panel.marks ?? [];
    const points = marks.filter((mark) => mark.point !== false);
    const words = marks.filter((mark) => mark.point === false);
    const side = (context) => Math.min(context.width - 140, context.file ? 560 : 460);
    const build = (context) => {
      picture ??= paint();
      isolines ??= trace();
      const size = context.narrow && !context.file ? Math.min(context.width - 120, 460) : side(context);
      const axis = (spec) => ({ title: spec.title, grid: false, tickCount: 6, labelExpr: "nalmNumber(datum.value)", domain: true, labelFlush: false });
      const ends = (list) => ({ domain: [list[0], list.at(-1) === list[0] ? list[0] + 1 : list.at(-1)], nice: false, zero: false });
      const x = { field: "x", type: "quantitative", scale: ends(xs), axis: axis(panel.x) };
      const y = { field: "y", type: "quantitative", scale: ends(ys), axis: axis(panel.y) };
      const tick = log ? "nalmTen(datum.value)" : "nalmNumber(datum.value)";
      return {
        width: size, height: size,
        layer: [
          { name: "surface", data: { values: [{ x: (xs[0] + xs.at(-1)) / 2, y: (ys[0] + ys.at(-1)) / 2 }] },
            mark: { type: "image", url: picture, width: size, height: size, aspect: false }, encoding: { x, y } },
          // carries the legend: the picture has no scale of its own
          { data: { values: [{ x: xs[0], y: ys[0], z: low }] }, mark: { type: "point", size: 0, filled: true },
            encoding: { x, y, color: { field: "z", type: "quantitative", scale: panel.z.signed ? { domain: SIGNED.map((_, at) => low + ((high - low) * at) / (SIGNED.length - 1)), range: SIGNED.map((bytes) => `rgb(${bytes})`), interpolate: "rgb" }
              : { domain: [low, high], scheme: "viridis", nice: false, zero: false },
              legend: { title: wrap(panel.z.title, 16), gradientLength: size * 0.7, gradientThickness: 12, gradientOpacity: 1, labelExpr: tick, ...(log ? { values: log_ticks(low, high, 7) } : { tickCount: 6 }) } } } },
          ...(isolines.length ? [{ name: "isolines", data: { values: isolines }, mark: { type: "line", strokeWidth: 0.8, opacity: panel.z.signed ? 0.35 : 0.75, color: panel.z.signed ? "#000000" : "#ffffff" },
            encoding: { x, y, detail: { field: "line", type: "nominal" }, order: { field: "order", type: "quantitative" } } }] : []),
          ...(points.length ? [
            { data: { values: points }, mark: { type: "point", size: 120, strokeWidth: 3.4, color: "#ffffff", filled: false, opacity: 1 }, encoding: { x, y } },
            { name: "solutions", data: { values: points }, mark: { type: "point", size: 120, strokeWidth: 1.6, color: "#000000", filled: false, opacity: 1 }, encoding: { x, y } },
            { data: { values: points }, mark: { type: "text", dy: 16, fontSize: 11, fontWeight: 600, color: "#000000", stroke: "#ffffff", strokeWidth: 3, strokeOpacity: 0.85 }, encoding: { x, y, text: { field: "label", type: "nominal" } } },
            { data: { values: points }, mark: { type: "text", dy: 16, fontSize: 11, fontWeight: 600, color: "#000000" }, encoding: { x, y, text: { field: "label", type: "nominal" } } }] : []),
          ...words.map((word) => ({ data: { values: [word] }, mark: { type: "text", fontSize: 15, fontWeight: 700, color: word.light ? "#ffffff" : "#000000" }, encoding: { x, y, text: { field: "label", type: "nominal" } } })),
        ],
      };
    };
    const notes = [clipped ? `Values above ${number(limit)} are drawn as ${number(limit)}.` : "", known.length < grid.flat().length ? "Grey: no value." : ""].filter(Boolean).join(" ");
    return new Figure({
      id: file_name(panel.title, index), title: panel.title, level: 2, build, reserve: 460, file_width: 720, lead: notes,
      subtitle: () => [[data.title, notes].filter(Boolean).join(". ").replace("..", "."), data.version],
      describe: () => `${panel.title}: ${panel.z.title} over ${panel.x.title} and ${panel.y.title}, from ${number(log ? 10 ** low : low)} to ${number(log ? 10 ** high : high)}.`,
      drawn: (view, self) => listen(self, (event) => {
        const at = under(self, event);
        if (!at) { hide_tip(); return; }
        const column = nearest(xs, at.x);
        const row = nearest(ys, at.y);
        const value = panel.values[row]?.[column];
        show_tip({ title: `${panel.z.title}: ${usable(value) ? number(value) : "no value"}`, rows: [[panel.x.title, number(xs[column])], [panel.y.title, number(ys[row])]] }, event);
      }),
    });
  }

  // ---- the page ------------------------------------------------------------------------------------------------
  const figures = data.panels.map((panel, index) => (panel.kind === "surface" ? surface_figure(panel, index) : line_figure(panel, index)));
  document.getElementById("page").append(
    make("header", { class: "masthead plain" },
      make("div", { class: "kicker-row" }, make("p", { class: "kicker" }, data.command), make("div", { class: "controls" }, nalm.theme_switch())),
      make("h1", null, data.title),
      make("div", { class: "caption" }, data.caption.split(/\n\n+/).filter(Boolean).map((text) => make("p", null, text)))),
    make("main", { id: "content" }, make("div", { class: "figures-grid" }, figures.map((figure) => figure.element))),
    nalm.footer(`${data.version}. Made with ${data.command}.`));
  nalm.start();
})();
