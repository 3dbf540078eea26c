// What a page does when it is pointed at: marks say their figures, timelines zoom and pan.
"use strict";
{
  const svg = (name, attributes, parent) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    parent.append(made);
    return made;
  };

  // One box for all marks: pointed at, touched, or reached by the keyboard.
  const tip = document.getElementById("tip");
  let shown = null;
  const hide = () => {
    shown?.classList.remove("on");
    shown = null;
    tip.hidden = true;
  };
  const show = (mark, x, y) => {
    if (shown !== mark) hide();
    shown = mark;
    mark.classList.add("on");
    tip.textContent = mark.getAttribute("aria-label");
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(innerWidth - box.width - 8, x + 12)) + "px";
    tip.style.top = (y - box.height - 12 < 8 ? y + 18 : y - box.height - 12) + "px";
  };
  const markAt = (target) => target instanceof Element ? target.closest(".mark") : null;
  for (const kind of ["pointermove", "pointerdown"])
    document.addEventListener(kind, (event) => {
      const mark = markAt(event.target);
      if (mark) show(mark, event.clientX, event.clientY);
      else hide();
    });
  const showFocused = (mark) => {
    const box = mark.getBoundingClientRect();
    show(mark, box.left + box.width / 2, box.top);
  };
  document.addEventListener("focusin", (event) => {
    const mark = markAt(event.target);
    if (mark) showFocused(mark);
    else hide();
  });
  // Getting the focus may scroll the page: what is said goes along.
  document.addEventListener("scroll", () => {
    if (shown && shown === document.activeElement) showFocused(shown);
    else hide();
  }, true);

  // A picture is one stop of the Tab key; arrow keys go through its marks.
  const marksOf = (picture) => [...picture.querySelectorAll(".mark")];
  const reachable = (picture) => marksOf(picture).forEach((mark, i) => (mark.tabIndex = i === 0 ? 0 : -1));
  document.querySelectorAll(".bars, svg:not(.lane, .whole, .bar)").forEach(reachable);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const mark = markAt(document.activeElement);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!mark || !step || mark.closest(".lanes")) return;
    const group = mark.closest(".bars, .kernels") ?? mark.closest("svg");
    const all = marksOf(group).filter((other) => other.getClientRects().length);
    const next = all[all.indexOf(mark) + step];
    if (!next) return;
    mark.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    event.preventDefault();
  });

  const number = (x) => (x >= 100 ? x.toFixed(0) : String(Number(x.toPrecision(3))));
  const time = (ns) => {
    for (const [step, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]])
      if (Math.abs(ns) >= step) return number(ns / step) + " " + unit;
    return number(ns) + " ns";
  };

  const timeline = (root) => {
    const data = JSON.parse(root.querySelector("script").textContent);
    const lanes = [...root.querySelectorAll("svg.lane")];
    const axis = root.querySelector(".axis");
    const whole = root.querySelector(".whole");
    const rows = data.rows.map((packed) => {
      const bars = [];
      for (let i = 0, at = 0; i < packed.length; i += 5) {
        at += packed[i];
        bars.push({ at, long: packed[i + 1], task: packed[i + 2], first: packed[i + 3], n: packed[i + 4] });
      }
      return bars;
    });
    let [low, high] = data.view;
    let queued = false;

    const says = (bar) => {
      const last = bar.first + bar.n - 1;
      const which = bar.n === 0 ? "" : bar.n === 1 ? ` instance ${bar.first},` : ` instances ${bar.first} to ${last},`;
      return `${data.tasks[bar.task]}:${which} ${time(bar.long)} from ${time(bar.at)} on`;
    };
    const drawRow = (bars, lane, at) => {
      // Bars narrower than half a pixel are one bar until they fill it.
      const pixel = (high - low) / lane.clientWidth / 2;
      lane.replaceChildren();
      let end = -Infinity;
      for (const bar of bars) {
        const [from, to] = [Math.max(bar.at, low), Math.min(bar.at + bar.long, high)];
        if (to <= low || from >= high || to < end + pixel) continue;
        end = Math.max(to, from + pixel);
        const group = svg("g", { class: "mark", role: "img", "aria-label": says(bar), tabindex: -1 }, lane);
        const x = (100 * (from - low)) / (high - low), wide = (100 * (end - from)) / (high - low);
        // The line around a bar would cover a narrow one.
        const style = `fill:${data.fills[bar.task]}` + ((wide / 100) * lane.clientWidth < 4 ? ";stroke:none" : "");
        svg("rect", { x: x + "%", width: wide + "%", height: "100%", style }, group);
        const name = data.tasks[bar.task], fill = data.inks[bar.task];
        if (fill && (wide / 100) * lane.clientWidth > 8 * name.length + 6)
          svg("text", { x: x + wide / 2 + "%", y: "50%", fill, class: "middle" }, group).textContent = name;
      }
    };
    const draw = () => {
      queued = false;
      // The bar that has the focus goes away; the timeline keeps it.
      if (document.activeElement.closest(".lane") && root.contains(document.activeElement))
        root.querySelector(".lanes").focus({ preventScroll: true });
      rows.forEach((bars, i) => drawRow(bars, lanes[i]));
      const wanted = Math.max(2, Math.floor(axis.clientWidth / 110));
      const rough = (high - low) / wanted;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = power * [1, 2, 5, 10].find((times) => times * power >= rough);
      axis.replaceChildren();
      for (let at = Math.ceil(low / step) * step; at <= high; at += step) {
        const part = (at - low) / (high - low);
        const label = document.createElement("span");
        label.textContent = time(at);
        label.className = "tick" + (part < 0.04 ? " first" : part > 0.96 ? " last" : "");
        label.style.left = 100 * part + "%";
        axis.append(label);
      }
      const view = whole.querySelector(".view");
      view.setAttribute("x", (100 * low) / data.end + "%");
      view.setAttribute("width", (100 * (high - low)) / data.end + "%");
    };
    const go = (from, to) => {
      const span = Math.max(50, Math.min(data.end, to - from));
      low = Math.max(0, Math.min(data.end - span, from));
      high = low + span;
      if (!queued) requestAnimationFrame(draw);
      queued = true;
    };
    const zoom = (times, part = 0.5) => {
      const span = high - low, at = low + part * span;
      go(at - part * span * times, at + (1 - part) * span * times);
    };
    const does = {
      in: () => zoom(0.5), out: () => zoom(2), all: () => go(0, data.end),
      left: () => go(low - (high - low) / 3, high - (high - low) / 3),
      right: () => go(low + (high - low) / 3, high + (high - low) / 3),
    };
    const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all" };
    root.querySelectorAll("button").forEach((button) => (button.onclick = does[button.dataset.do]));
    const body = root.querySelector(".lanes");
    body.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key in keys) does[keys[event.key]]();
      else if (step) {
        const bars = marksOf(body), at = bars.indexOf(document.activeElement);
        (bars[at + step] ?? (at < 0 ? bars[0] : null))?.focus({ preventScroll: true });
      } else return;
      event.preventDefault();
    });
    const partOf = (event, of) => (event.clientX - of.getBoundingClientRect().left) / of.clientWidth;
    const fingers = new Map();
    for (const lane of lanes) {
      lane.addEventListener("wheel", (event) => {
        const span = high - low;
        if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY / 300), partOf(event, lane));
        else if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
          go(low + (event.deltaX / lane.clientWidth) * span, high + (event.deltaX / lane.clientWidth) * span);
        else return;
        event.preventDefault();
      }, { passive: false });
      lane.addEventListener("dblclick", (event) => zoom(0.4, partOf(event, lane)));
      lane.addEventListener("pointerdown", (event) => {
        fingers.set(event.pointerId, event.clientX);
        lane.setPointerCapture(event.pointerId);
      });
      lane.addEventListener("pointermove", (event) => {
        const before = fingers.get(event.pointerId);
        if (before === undefined) return;
        const others = [...fingers].filter(([id]) => id !== event.pointerId);
        const nsPerPixel = (high - low) / lane.clientWidth;
        if (others.length) {
          const other = others[0][1];
          const now = Math.max(20, Math.abs(event.clientX - other));
          zoom(Math.max(20, Math.abs(before - other)) / now, partOf(event, lane));
        } else {
          const moved = (before - event.clientX) * nsPerPixel;
          go(low + moved, high + moved);
        }
        fingers.set(event.pointerId, event.clientX);
      });
      for (const kind of ["pointerup", "pointercancel"])
        lane.addEventListener(kind, (event) => fingers.delete(event.pointerId));
    }
    whole.addEventListener("pointerdown", (event) => {
      const at = partOf(event, whole) * data.end, half = (high - low) / 2;
      go(at - half, at + half);
    });
    // With the width of the page known: as many bars as can be told apart.
    if (lanes[0] && lanes[0].clientWidth < 600 && high - low > 50) zoom(lanes[0].clientWidth / 1000);
    else draw();
    addEventListener("resize", () => go(low, high));
  };
  document.querySelectorAll(".timeline").forEach(timeline);

  // On paper everything is open.
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => (part.open = true)));
}
