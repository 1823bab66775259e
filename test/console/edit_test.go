package console

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// writes makes a record with the form, changes it, and deletes it.
func (s *site) writes(t *testing.T, b *browser, base string) {
	shows := []chromedp.Action[chromedp.Void]{chromedp.Click("#record button"), chromedp.WaitVisible("#main")}
	fill := func(fields ...string) {
		t.Helper()
		for i := 0; i < len(fields); i += 2 {
			b.do(chromedp.SetValue("#"+fields[i], fields[i+1]))
		}
		b.do(shows...)
	}
	does := func(says string) {
		t.Helper()
		b.do(chromedp.Click("#do button"), chromedp.WaitVisible(`[role="status"]`))
		b.await("it is done", says)
	}
	there := func(want bool) {
		t.Helper()
		got := s.kubectl("get", "records", "-n", "a", "-o", "name")
		if is := slices.Contains(strings.Split(got, "\n"), "record.kubi.zone/of-a-form"); is != want {
			t.Errorf("the record is there: %v, want %v, of:\n%s", is, want, got)
		}
	}
	b.do(chromedp.Navigate(base+"/zone?"+ofZone("a")), chromedp.Click("#new"), chromedp.WaitVisible("#record"))
	b.judge("the form of a new record")
	fill("namespace", "a", "object", "of-a-form", "type", "aaaa", "data", "192.0.2.1", "fqdn", "form.a.example.")
	b.await("what the API server refuses", "The API server would refuse it", "192.0.2.1")
	fill("data", "2001:db8::1", "fqdn", "form.elsewhere.example.")
	b.await("what the World would refuse", "✗ refused (NoZone)", "Warnings of the API server")
	b.judge("a record that would be refused")
	fill("fqdn", "form.a.example.", "ttl", "77")
	b.await("what would be", "✓ accepted", "form.a.example. 77 IN AAAA 2001:db8::1", "rdata: 2001:db8::1")
	b.judge("a record that would be accepted")
	there(false)
	does("Record a/of-a-form is stored")

	b.do(chromedp.Click("#back"), chromedp.WaitVisible("#change"))
	b.await("the server answers", "2001:db8::1", s.bind.Addr())
	b.do(chromedp.Click("#change"), chromedp.WaitVisible("#record"))
	fill("data", "2001:db8::2")
	b.await("what would change", "AAAA 2001:db8::1", "AAAA 2001:db8::2")
	s.kubectl("patch", "record", "of-a-form", "-n", "a", "--type=merge", "-p", `{"spec":{"rdata":"2001:db8::3"}}`)
	b.do(chromedp.Click("#do button"), chromedp.WaitVisible(`[role="alert"]`))
	b.await("somebody else was faster", "effect has changed since it was shown")
	b.forgive("409 (Conflict)")

	b.do(chromedp.Navigate(base+"/explain?kind=Record&namespace=a&object=of-a-form"), chromedp.WaitVisible("#change"),
		chromedp.Click("#change"), chromedp.WaitVisible("#record"))
	fill("data", "2001:db8::2")
	does("Record a/of-a-form is stored")
	b.do(chromedp.Click("#back"), chromedp.WaitVisible("#delete"))
	b.await("the server answers", "2001:db8::2", s.bind.Addr())
	b.do(chromedp.Click("#delete"), chromedp.WaitVisible("#do"))
	b.await("what would go", "AAAA 2001:db8::2")
	b.judge("the page that asks whether a record shall go")
	there(true)
	does("Record a/of-a-form is deleted")
	there(false)
}
