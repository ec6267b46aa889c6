// Sets the theme before the first paint. What it may be stands in src/lib/theme.ts.
let theme;
try {
  theme = localStorage.getItem("coder.theme");
} catch {
  theme = null;
}
if (theme !== "light" && theme !== "dark")
  theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
document.documentElement.dataset.theme = theme;
