package fleet

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// TestWhoIsWokenOfThoseThatWait has a server that lacks a pod and so does not wait for its turn, only until another has
// its new pods: nobody before it in the line goes before it is whole, so that it must be woken itself.
func TestWhoIsWokenOfThoseThatWait(t *testing.T) {
	var l line
	at := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: "a", Name: name} }
	dns, web := &dialect.Parent{Name: "dns"}, &dialect.Parent{Name: "web"}
	l.join(dns, at("dns-primary-1"), false)
	l.join(dns, at("dns-primary-0"), false)
	l.join(dns, at("dns-secondary-10"), true)
	l.join(web, at("web-primary-3"), false)
	l.join(dns, client.ObjectKey{Namespace: "b", Name: "dns-primary-0"}, true)
	woken := func() string {
		var names []string
		for _, key := range l.first("a") {
			names = append(names, key.Name)
		}
		slices.Sort(names)
		return strings.Join(slices.Compact(names), " ")
	}
	if got := woken(); got != "dns-primary-0 dns-secondary-10 web-primary-3" {
		t.Error(got)
	}
	l.leave(at("dns-primary-0"))
	l.join(dns, at("dns-secondary-10"), false)
	if got := woken(); got != "dns-primary-1 web-primary-3" {
		t.Error(got)
	}
}
