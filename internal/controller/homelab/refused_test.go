package homelab_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

// ends deletes the DNSClass dns, and waits for it to be gone when nothing keeps it any more.
func (w *world) ends(before func()) {
	w.t.Helper()
	o := &v1alpha1.DNSClass{}
	o.Name = w.ns + "-dns"
	if err := w.live.Delete(w.ctx, o); err != nil {
		w.t.Fatal(err)
	}
	before()
	w.eventually("the class", func() string {
		if err := w.live.Get(w.ctx, client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
			return "it is still there, with the finalizers " + lines(o.Finalizers)
		}
		return ""
	})
}

func TestARefusedRecordDoesNotKeepItsClass(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL, "allowed: [{names: [example.com, '*.example.com']}]")
	w.record("yes", "dns", "A www example.com 192.0.2.1")
	w.record("no", "dns", "A www example.net 192.0.2.1")
	w.until("yes", "Created True RecordCreated")
	w.until("no", "Error False InvalidConfiguration")
	w.ends(func() {
		w.record("yes", "dns", "A www example.com 192.0.2.2") // it works for those that it has
		w.holds(h, "A www.example.com 300 192.0.2.2")
		w.delete("yes")
		w.until("yes", "gone")
	})
	w.until("no", "Error False DNSClassNotFound")

	w.class("dns", h.URL)
	w.until("no", "Created True RecordCreated")
	w.class("dns", h.URL, "allowed: [{names: [example.com, '*.example.com']}]")
	w.until("no", "Error False InvalidConfiguration")
	w.ends(func() {})
	w.holds(h) // the class has stayed for its removal
}
