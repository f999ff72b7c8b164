// Finds sections by the beginnings of words. The index is loaded when the field is used for the first time.
"use strict";
{
    const own = document.currentScript;
    const base = own.dataset.base;
    const field = document.getElementById("search");
    const found = document.getElementById("found");
    let loading = null;

    function index() {
        loading ??= new Promise((resolve, reject) => {
            const script = document.createElement("script");
            script.src = base + "search-index.js";
            script.onload = () => resolve(window.searchIndex);
            script.onerror = reject;
            document.head.append(script);
        });
        return loading;
    }

    /** Numbers of sections by how well they match all words. */
    function matches(index, words) {
        let all = null;
        for (const word of words) {
            const scores = new Map();
            for (const [known, places] of Object.entries(index.words)) {
                if (!known.startsWith(word)) continue;
                for (const place of places) {
                    const section = place < 0 ? -place - 1 : place;
                    const score = (place < 0 ? 10 : 1) * (known === word ? 3 : 1);
                    scores.set(section, Math.max(score, scores.get(section) ?? 0));
                }
            }
            if (all === null) all = scores;
            else for (const [section, score] of all)
                scores.has(section) ? all.set(section, score + scores.get(section)) : all.delete(section);
        }
        return [...(all ?? [])].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 20).map((entry) => entry[0]);
    }

    function close() {
        found.hidden = true;
    }

    async function search() {
        const words = field.value.toLowerCase().match(/[\p{L}\p{N}_][\p{L}\p{N}_.-]*/gu) ?? [];
        if (words.length === 0) return close();
        const known = await index();
        const list = document.createElement("ul");
        for (const number of matches(known, words)) {
            const [title, address] = known.sections[number];
            const link = document.createElement("a");
            link.href = base + address;
            link.textContent = title;
            const item = document.createElement("li");
            item.append(link);
            list.append(item);
        }
        const count = document.createElement("p");
        count.setAttribute("role", "status");
        count.textContent = list.children.length ? `${list.children.length} sections` : "Nothing was found.";
        found.replaceChildren(count, list);
        found.hidden = false;
    }

    field.addEventListener("input", search);
    field.form.addEventListener("submit", (event) => {
        event.preventDefault();
        found.querySelector("a")?.click();
    });
    document.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && !found.hidden) {
            close();
            field.focus();
        }
        const links = [...found.querySelectorAll("a")];
        if (found.hidden || links.length === 0 || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
        const place = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
        event.preventDefault();
        place < 0 ? field.focus() : links[Math.min(place, links.length - 1)].focus();
    });
    const asked = new URLSearchParams(location.search).get("q");
    if (asked) {
        field.value = asked;
        search();
    }
}
