# Read by the tests that look at a page in a browser: what they need before they begin.

# Sets `browser` to headless Chromium's command; ends the test as skipped without it. $1: what is not looked at then.
find_browser() {
  browser=
  for name in chromium chromium-browser google-chrome; do
    browser=$(command -v "$name") && return
  done
  echo "SKIPPED: no Chromium; install the package chromium to have $1 looked at in a browser"
  exit 77
}
