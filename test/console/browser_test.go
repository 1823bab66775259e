package console

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/zonefold/zonefold/internal/testcluster"
)

// A browser is one of Debian's Chromium.
type browser struct {
	t   *testing.T
	ctx context.Context
	axe string

	mu       sync.Mutex
	problems []string // what the browser complains of
}

// newBrowser starts a browser that complains of whatever a page tries to run or to load and may not.
func (s *site) newBrowser() *browser {
	s.t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		s.t.Fatalf("%v; go run ./hack/prerequisites installs it", err)
	}
	axe, err := os.ReadFile("../../internal/console/testdata/axe/axe.min.js")
	s.must(err)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.UserDataDir(s.t.TempDir()))
	allocated, cancel := chromedp.NewExecAllocator(s.ctx, options...)
	s.t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocated)
	s.t.Cleanup(cancel)
	b := &browser{t: s.t, ctx: ctx, axe: string(axe)}
	b.do(chromedp.Navigate("about:blank")) // which starts it
	s.must(chromedp.Listen(ctx, b.listen))
	b.do(chromedp.Navigate(`data:text/html,<p style="color:gray;background:silver">text<img src="x:y">`))
	if all := strings.Join(b.violations(""), "\n"); !strings.Contains(all, "image-alt") ||
		!strings.Contains(strings.Join(b.violations("color-contrast"), ""), "color-contrast") {
		s.t.Fatalf("on a page that is bad axe-core finds:\n%s", all)
	}
	b.problems = nil // of that page
	return b
}

// listen hears what a page does that it shall not.
func (b *browser) listen(event any) {
	switch e := event.(type) {
	case *page.EventJavascriptDialogOpening:
		b.complain("a page opens a dialog: " + e.Message)
	case *runtime.EventExceptionThrown:
		b.complain(fmt.Sprintf("a script fails: %+v", e.ExceptionDetails))
	case *log.EventEntryAdded:
		b.complain(fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	}
}

func (b *browser) complain(of string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, of)
}

// forgive waits for a problem that was to be, and forgets it.
func (b *browser) forgive(problem string) {
	b.t.Helper()
	testcluster.Eventually(b.ctx, b.t, "the browser complains of "+problem, func() string {
		b.mu.Lock()
		defer b.mu.Unlock()
		i := slices.IndexFunc(b.problems, func(p string) bool { return strings.Contains(p, problem) })
		if i < 0 {
			return fmt.Sprintf("it complains of %q", b.problems)
		}
		b.problems = slices.Delete(b.problems, i, i+1)
		return ""
	})
}

// do acts in the browser.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// evaluate returns what an expression is on the page.
func evaluate[T any](b *browser, expression string) T {
	b.t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// text returns what can be read on the page, or why nothing can, such as while another page takes its place.
func (b *browser) text() string {
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText : "no body"`))
	if err != nil {
		return err.Error()
	}
	return out
}

// await waits until the page has some texts. It does not load it again.
func (b *browser) await(what string, parts ...string) {
	b.t.Helper()
	testcluster.Eventually(b.ctx, b.t, what, func() string {
		all := b.text()
		for _, part := range parts {
			if !strings.Contains(all, part) {
				return fmt.Sprintf("the page lacks %q:\n%.2000s", part, all)
			}
		}
		return ""
	})
}

// concludes waits until the page has a sentence on what was done: neither JSON nor escapes.
func (b *browser) concludes(what string, parts ...string) {
	b.t.Helper()
	b.await(what, parts...)
	said := evaluate[string](b, `document.querySelector('[role="status"]').textContent`)
	if strings.ContainsAny(said, `{\`) {
		b.t.Errorf("%s: the page says %s", what, said)
	}
}

// look opens a page, and judges it.
func (b *browser) look(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
	b.judge(url)
}

// judge judges a page: by axe-core in light and dark, by its width on a telephone, by what the browser complains of.
func (b *browser) judge(what string) {
	b.t.Helper()
	for _, view := range []struct {
		scheme, rules string // of axe-core; "": all
		width         int64
	}{{"light", "", 1200}, {"dark", "color-contrast", 360}} {
		b.view(view.scheme, view.width)
		if wide := evaluate[int64](b, `document.documentElement.scrollWidth`); wide > view.width {
			b.t.Errorf("%s is %d px wide on a screen of %d", what, wide, view.width)
		}
		if is := evaluate[bool](b, `matchMedia("(prefers-color-scheme: dark)").matches`); is != (view.scheme == "dark") {
			b.t.Errorf("%s is not shown in %s", what, view.scheme)
		}
		for _, found := range b.violations(view.rules) {
			b.t.Errorf("%s, %s, %d px: %s", what, view.scheme, view.width, found)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, problem := range b.problems {
		b.t.Errorf("%s: %s", what, problem)
	}
	b.problems = nil
}

// view has the browser show pages in light or dark, on a screen that is so many pixels wide.
func (b *browser) view(scheme string, width int64) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 740, DeviceScaleFactor: 1})
	if err == nil {
		_, err = chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// violations are what axe-core finds on the page.
func (b *browser) violations(rules string) []string {
	b.t.Helper()
	if !evaluate[bool](b, `"axe" in window`) {
		evaluate[bool](b, b.axe+";true")
	}
	options := `{resultTypes: ["violations"]}`
	if rules != "" {
		options = `{resultTypes: ["violations"], runOnly: ["` + rules + `"]}`
	}
	return evaluate[[]string](b, `axe.run(document, `+options+`).then(found =>
		found.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.html.slice(0, 200)).join(" | ")))`)
}
