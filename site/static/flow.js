// Draws the flow at the clock's moment: clients, balancers, backends, and requests as dots on their way. A dot is one
// attempt, or several where more than sixty a second would have to be drawn. State is a shape and a letter, colour last.
"use strict";
(() => {
  const figure = document.getElementById("flow");
  const { t: word, figure: number } = minilbWords;
  const canvas = figure.querySelector("canvas"), note = figure.querySelector(".unit");
  const pen = canvas.getContext("2d");
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const mostDots = 60; // a second
  const flight = 0.9; // seconds a dot takes

  let colours = null, run = null, dots = [], owed = [], room = 0, width = 0, height = 0, scale = 1, turn = 0, told = "";

  const theme = () => {
    colours = {};
    for (const name of ["ink", "soft", "edge", "panel", "page", "bad", "good", "accent", "grid"]) colours[name] = style(`--${name}`);
  };

  const rowHeight = () => (run.backends.length > 6 ? 30 : 48);
  const resize = () => {
    if (!run) return;
    const ratio = devicePixelRatio || 1;
    width = Math.max(220, room);
    height = Math.max(rowHeight() * run.backends.length, 100) + 12;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  };

  // where everything stands.
  const narrow = () => width < 460;
  const clients = () => ({ x: narrow() ? 20 : 40, y: height / 2 });
  const shownBalancers = () => Math.min(run.balancers, 4);
  const balancer = (i) => ({ x: narrow() ? width * 0.27 : backend(0).x * 0.5, y: (height / (shownBalancers() + 1)) * (i + 1) });
  const backend = (i) => ({ x: narrow() ? width * 0.5 : Math.max(width * 0.55, width - 330), y: 6 + rowHeight() * (i + 0.5) });

  // state is a backend's at a moment: what holds it back, and what is wrong with it.
  const spanAt = (list, i, t) => list.findLast((s) => s.backend === i && s.from <= t && (s.to === 0 || t < s.to))?.state;
  const stateOf = (i, t) => spanAt(run.spans, i, t) ?? "up";
  const signs = { up: "", ejected: "E", down: "D", draining: "G", absent: "–" };

  const shape = (x, y, size, state) => {
    pen.beginPath();
    if (state === "up") pen.arc(x, y, size, 0, 7);
    else if (state === "ejected") { pen.moveTo(x, y - size * 1.25); pen.lineTo(x + size * 1.25, y); pen.lineTo(x, y + size * 1.25); pen.lineTo(x - size * 1.25, y); pen.closePath(); }
    else if (state === "draining") { pen.moveTo(x - size, y - size); pen.lineTo(x + size, y - size); pen.lineTo(x, y + size * 1.2); pen.closePath(); }
    else pen.rect(x - size, y - size, 2 * size, 2 * size);
  };

  const text = (words, x, y, { colour = colours.ink, size = 12, weight = 400, align = "left", room = 0 } = {}) => {
    pen.font = `${weight} ${size}px system-ui, sans-serif`;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.fillStyle = colour;
    let shown = words;
    while (room && shown.length > 2 && pen.measureText(shown).width > room) shown = `${shown.slice(0, -2)}…`;
    pen.fillText(shown, x, y);
  };

  const box = (x, y, w, h, label) => {
    pen.fillStyle = colours.panel;
    pen.strokeStyle = colours.soft;
    pen.lineWidth = 1.25;
    pen.beginPath();
    pen.roundRect(x - w / 2, y - h / 2, w, h, 6);
    pen.fill();
    pen.stroke();
    text(label, x, y, { align: "center", size: 11, weight: 600 });
  };

  const drawLinks = (w) => {
    pen.strokeStyle = colours.edge;
    const c = clients();
    for (let k = 0; k < shownBalancers(); k++) {
      const b = balancer(k);
      pen.lineWidth = 2;
      line(c, b);
      run.backends.forEach((_, i) => {
        const share = run.share(i, w);
        pen.lineWidth = 0.75 + (share > 0 ? 12 * share : 0) / Math.sqrt(shownBalancers());
        line(b, backend(i));
      });
    }
  };
  const line = (a, b) => { pen.beginPath(); pen.moveTo(a.x, a.y); pen.lineTo(b.x, b.y); pen.stroke(); };

  const drawBackend = (i, t, w) => {
    const { x, y } = backend(i), b = run.backends[i], state = stateOf(i, t), trouble = spanAt(run.troubles, i, t);
    const size = rowHeight() > 32 ? 12 : 9;
    shape(x, y, size, state);
    const ring = state !== "up" || b.hatched; // the second six backends are rings, as they are hatched elsewhere
    pen.fillStyle = ring ? colours.panel : b.colour;
    pen.fill();
    pen.lineWidth = ring ? 3 : 2;
    pen.strokeStyle = state === "up" ? b.colour : state === "draining" ? colours.soft : colours.bad;
    pen.setLineDash(state === "absent" ? [2, 3] : []);
    pen.stroke();
    pen.setLineDash([]);
    text(signs[state] || b.letter, x, y, { align: "center", size: size, weight: 700, colour: ring ? colours.ink : "#fff" });

    const left = x + size + 8, room = width - left - 4, flightNow = run.inFlight(i, w);
    const busy = Math.min(flightNow, b.capacity), waits = Math.max(0, flightNow - b.capacity);
    const words = [minilbDraw.nameOf(b), state !== "up" ? word(state) : "", trouble ?? ""].filter(Boolean).join(", ");
    text(words, left, y - (rowHeight() > 32 ? 9 : 7), { size: 11, weight: 600, colour: trouble || state !== "up" ? colours.bad : colours.ink, room });
    // Workers as squares, filled as far as they are busy; what waits as ticks behind them.
    const squares = Math.min(b.capacity, 8), unit = b.capacity / squares, side = rowHeight() > 32 ? 9 : 7, top = y + 1;
    for (let k = 0; k < squares; k++) {
      pen.strokeStyle = colours.soft;
      pen.lineWidth = 1;
      pen.strokeRect(left + k * (side + 2) + 0.5, top + 0.5, side - 1, side - 1);
      const full = Math.min(Math.max(busy / unit - k, 0), 1);
      pen.fillStyle = colours.ink;
      pen.fillRect(left + k * (side + 2) + 1, top + 1 + (side - 2) * (1 - full), side - 2, (side - 2) * full);
    }
    const after = left + squares * (side + 2) + 4, ticks = Math.min(Math.round(waits), 12);
    pen.fillStyle = colours.bad;
    for (let k = 0; k < ticks; k++) pen.fillRect(after + k * 4, top, 2, side);
    const more = after + ticks * 4 + 4;
    const share = run.share(i, w), errors = run.failed(i, w) / run.seconds;
    const figures = [word("{n} in flight", { n: number(flightNow.toFixed(1)) }), waits >= 0.5 ? word("{n} wait", { n: waits.toFixed(0) }) : "",
      word("{share} of attempts", { share: number(`${(share * 100).toFixed(0)}%`) }), errors > 0 ? word("{n} errors/s", { n: errors.toFixed(0) }) : ""];
    text(figures.filter(Boolean).join(", "), more, top + side / 2, { size: 10, colour: colours.soft, room: width - more - 2 });
  };

  // launch owes each backend the dots that its share asks for.
  const launch = (t, w, elapsed) => {
    const perSecond = run.attempts(w) / run.seconds * run.speed();
    scale = Math.max(1, perSecond / mostDots);
    run.backends.forEach((b, i) => {
      const share = run.share(i, w);
      if (!(share > 0)) return;
      owed[i] = (owed[i] ?? 0) + (perSecond / scale) * share * elapsed;
      for (; owed[i] >= 1; owed[i]--) {
        const failing = run.failed(i, w) / Math.max(1, run.attempts(w) * share);
        turn = (turn * 16807 + 12345) % 2147483647;
        dots.push({ i, via: turn % shownBalancers(), age: 0, bad: (turn % 1000) / 1000 < failing });
      }
    });
    if (dots.length > 240) dots = dots.slice(-240);
  };

  const along = (a, b, part) => ({ x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part });
  const drawDots = (elapsed) => {
    dots = dots.filter((dot) => (dot.age += elapsed / flight) < (dot.bad ? 1.7 : 1.15));
    for (const dot of dots) {
      const c = clients(), v = balancer(dot.via), b = backend(dot.i);
      const p = dot.age < 0.4 ? along(c, v, dot.age / 0.4) : dot.age < 1 ? along(v, b, (dot.age - 0.4) / 0.6)
        : dot.bad ? along(b, v, (dot.age - 1) / 0.7) : b;
      pen.globalAlpha = dot.age > 1 && !dot.bad ? Math.max(0, 1 - (dot.age - 1) / 0.15) : 1;
      if (dot.bad && dot.age >= 1) {
        pen.strokeStyle = colours.bad;
        pen.lineWidth = 2;
        line({ x: p.x - 4, y: p.y - 4 }, { x: p.x + 4, y: p.y + 4 });
        line({ x: p.x - 4, y: p.y + 4 }, { x: p.x + 4, y: p.y - 4 });
      } else {
        pen.fillStyle = run.backends[dot.i].colour;
        pen.beginPath();
        pen.arc(p.x, p.y, 3.5, 0, 7);
        pen.fill();
      }
    }
    pen.globalAlpha = 1;
  };

  const draw = (t, elapsed) => {
    if (!run || !room || !sight) return;
    const w = run.window(t);
    pen.clearRect(0, 0, width, height);
    drawLinks(w);
    if (minilbTime.still()) dots = [];
    else if (elapsed > 0) launch(t, w, elapsed);
    drawDots(elapsed);
    const c = clients();
    box(c.x, c.y, narrow() ? 38 : 64, 30, narrow() ? word("cl.") : word("clients"));
    for (let k = 0; k < shownBalancers(); k++) {
      const b = balancer(k), last = k === shownBalancers() - 1;
      box(b.x, b.y, narrow() ? 40 : 84, 26, run.balancers > 4 && last ? `… ${run.balancers}` : (narrow() ? word("lb") : word("balancer")) + (run.balancers > 1 ? ` ${k + 1}` : ""));
    }
    run.backends.forEach((_, i) => drawBackend(i, t, w));
    say(w);
  };

  // say writes what the dots stand for, and the table while it is open.
  let tabled = 0;
  const say = (w) => {
    const words = minilbTime.still() ? word("lines as wide as their share") : scale > 1.5 ? word("a dot stands for about {n} attempts", { n: Math.round(scale) }) : word("a dot is one attempt");
    if (words !== told) note.textContent = told = words;
    const details = figure.querySelector("details.table"), now = performance.now();
    if (!details.open || now - tabled < 250) return;
    tabled = now;
    const t = minilbTime.now();
    minilbDraw.fill(details, [word("backend"), word("state"), word("in flight"), word("waiting"), word("share")], run.backends.map((b, i) => {
      const n = run.inFlight(i, w), share = run.share(i, w);
      return [`${b.letter} ${b.name}`, [word(stateOf(i, t)), spanAt(run.troubles, i, t)].filter(Boolean).join(", "), number(n.toFixed(2)),
        number(Math.max(0, n - b.capacity).toFixed(2)), share >= 0 ? number(`${(share * 100).toFixed(1)}%`) : "–"];
    }));
  };

  minilbTime.follow(draw);
  let sight = true; // whether anything of it can be seen
  new IntersectionObserver((entries) => {
    const was = sight;
    sight = entries.at(-1).isIntersecting;
    if (sight && !was) draw(minilbTime.now(), 0);
  }, { rootMargin: "50px" }).observe(figure);
  // The room is what the observer last said: to ask the element would make the browser lay the page out there and then.
  new ResizeObserver(([{ contentRect }]) => { room = Math.floor(contentRect.width); resize(); draw(minilbTime.now(), 0); }).observe(canvas.parentElement);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { theme(); draw(minilbTime.now(), 0); });
  figure.querySelector("details.table").addEventListener("toggle", () => { tabled = 0; draw(minilbTime.now(), 0); });

  globalThis.minilbFlow = {
    show(now) {
      if (!colours) theme();
      const { run: r } = now;
      const zero = (v) => (v === v && v !== undefined ? v : 0);
      run = {
        backends: now.backends, spans: now.spans, troubles: now.troubles, balancers: now.balancers, seconds: r.seconds || 1,
        window: (t) => Math.min(Math.max(0, Math.floor(t / (r.seconds || 1))), Math.max(0, r.windows - 1)),
        share: (i, w) => zero(r.stacked[i]?.[w]) - (i ? zero(r.stacked[i - 1]?.[w]) : 0),
        inFlight: (i, w) => zero(r.inFlight[i]?.[w]), attempts: (w) => zero(r.attempts[w]), failed: (i, w) => zero(r.failed[i]?.[w]),
        speed: () => Number(document.getElementById("speed").value),
      };
      dots = dots.filter((dot) => dot.i < run.backends.length && dot.via < shownBalancers());
      owed.length = Math.min(owed.length, run.backends.length);
      resize();
    },
  };
})();
