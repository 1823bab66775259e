package console

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/zonefold/zonefold/internal/testcluster"
)

// TestPagesInABrowser looks at every page as a person does, with all rights.
func TestPagesInABrowser(t *testing.T) {
	s := newSite(t)
	b := s.newBrowser()
	admin := s.console("admin", "--edit")
	b.do(chromedp.Navigate(admin.link), chromedp.WaitVisible("#zone-0"))
	base, _, _ := strings.Cut(admin.link, "/login")
	b.await("the zones are ready", "a.example.", "b.example.", "✓ Ready")

	s.pictures(b, base)
	t.Run("pages follow what changes", func(t *testing.T) { s.follows(t, b, base) })
	t.Run("records are written by forms", func(t *testing.T) { s.writes(t, b, base) })
	for _, ns := range []string{"a", "b"} {
		for what, path := range pages(ns) {
			if ns == "a" && what != "zone" && what != "history" && what != "differences-of" {
				continue // it looks as that of b, whose values are worse
			}
			b.look(base + path)
		}
	}
	b.look(base + "/zone?q=hostile&" + ofZone("b"))
	b.await("the hostile record", "hostile.b.example.", `<script>alert(1)</script>`)
	b.look(base + "/explain?name=hostile.b.example.&type=TXT")
	b.await("the hostile record", `<img src=x onerror=alert(2)>`)
	t.Run("deletions are approved", func(t *testing.T) { s.approves(t, b, base) })
	t.Run("a zone is frozen, and goes back", func(t *testing.T) { s.freezes(t, b, base) })
}

// follows changes a record, and sees it on a page that nobody loads again; and searches with the keyboard.
func (s *site) follows(t *testing.T, b *browser, base string) {
	b.do(chromedp.Navigate(base + "/explain?name=www.a.example.&type=A"))
	b.await("the server answers", "192.0.2.1", s.bind.Addr())
	s.kubectl("patch", "record", "www-of-a", "-n", "a", "--type=merge", "-p", `{"spec":{"rdata":"192.0.2.77"}}`)
	b.await("the page shows what was changed, and what the server answers", "192.0.2.77", "after it was published")
	b.do(chromedp.Navigate(base+"/zone?"+ofZone("a")), chromedp.WaitVisible("#q"))
	b.await("all records", "old-3.a.example.", "1 to 5 of 5")
	b.do(chromedp.SendKeys("#q", "www"))
	b.await("the records that are searched for", "1 to 1 of 1")
	focused, at := evaluate[string](b, `document.activeElement.id`), evaluate[string](b, `location.href`)
	if focused != "q" || !strings.Contains(at, "q=www") {
		t.Errorf("after a search %q has the focus, at %s", focused, at)
	}
}

// approves has deletions made that are held.
func (s *site) approves(t *testing.T, b *browser, base string) {
	s.kubectl("delete", "records", "-n", "a", "old-0", "old-1", "old-2", "old-3")
	b.do(chromedp.Navigate(base + "/zone?" + ofZone("a")))
	b.await("deletions are held", "Deletions are held")
	b.judge("the page of a zone with deletions that are held")
	b.do(chromedp.Click("#approve"), chromedp.WaitVisible(`form[action="/act"][method="post"] button`))
	b.judge("the page that asks")
	b.do(chromedp.Click(`form[action="/act"][method="post"] button`), chromedp.WaitVisible(`[role="status"]`))
	b.concludes("it is approved", "is approved: old-")
	b.do(chromedp.Click("#back"))
	testcluster.Eventually(s.ctx, t, "the deletions are made", func() string {
		if all := b.text(); strings.Contains(all, "Deletions are held") {
			return all
		}
		return ""
	})
}

// freezes freezes a Zone, goes back to an earlier content, and thaws it.
func (s *site) freezes(t *testing.T, b *browser, base string) {
	yes := `form[action="/act"][method="post"] button`
	b.do(chromedp.Navigate(base+"/zone?"+ofZone("a")), chromedp.Click("#freeze"), chromedp.WaitVisible("#reason"),
		chromedp.SendKeys("#reason", "moving <b>"), chromedp.Click(yes), chromedp.WaitVisible(`[role="status"]`))
	b.concludes("it is frozen", "is frozen at serial", "moving <b>")
	b.do(chromedp.Click("#back"), chromedp.WaitVisible("#thaw"))
	b.judge("the page of a frozen zone")
	b.do(chromedp.Click("#thaw"), chromedp.WaitVisible(yes), chromedp.Click(yes), chromedp.WaitVisible(`[role="status"]`))
	b.concludes("it is thawed", "follows its objects again")
	b.do(chromedp.Navigate(base+"/history?"+ofZone("a")), chromedp.WaitVisible("#rollback-0"))
	b.judge("the history")
	b.do(chromedp.Click("#rollback-0"), chromedp.WaitVisible(yes))
	b.await("what goes back", "goes back to serial")
	b.judge("the page that asks")
	b.do(chromedp.Click(yes), chromedp.WaitVisible(`[role="status"]`))
	b.concludes("it is rolled back", "to serial")
}
