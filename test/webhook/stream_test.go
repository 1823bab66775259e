package webhook

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

// streamNames is how many objects there are at most, with two names each.
const streamNames = 60

// A stream is DNSRecords of one class that somebody changes all the time.
type stream struct {
	*site
	class  string
	random *rand.Rand
	wanted map[int]*v1alpha1.DNSRecord
	steps  map[string]int
	made   int
}

func (s *site) stream(class string, seed uint64) *stream {
	// it is to be repeated
	return &stream{s, class, rand.New(rand.NewPCG(seed, 1)), map[int]*v1alpha1.DNSRecord{}, map[string]int{}, 0}
}

// what is a record of any type.
func (f *stream) what(object, name string) *v1alpha1.DNSRecord {
	value := f.random.IntN(250)
	text := []string{
		fmt.Sprintf("A %%s 192.0.2.%d 198.51.100.%d", value, value), fmt.Sprintf("AAAA %%s 2001:db8::%x", value+1),
		fmt.Sprintf("CNAME %%s host-%d.example.net", value), fmt.Sprintf("TXT %%s text-%d", value),
	}[f.random.IntN(4)]
	return f.record(object, f.class, fmt.Sprintf(text, name))
}

// step makes, changes, renames or deletes one object. The n-th has one of two names; when it was deleted, another
// object wants these, and may come before the removal is done.
func (f *stream) step() {
	f.Helper()
	n := f.random.IntN(streamNames)
	old := f.wanted[n]
	names := [2]string{fmt.Sprintf("one-%d", n), fmt.Sprintf("two-%d", n)}
	switch draw := f.random.IntN(10); {
	case old == nil:
		f.steps["create"]++
		f.made++
		o := f.what(fmt.Sprintf("record-%d", f.made), names[draw%2])
		f.must(f.live.Create(f.ctx, o))
		f.wanted[n] = o
	case draw < 2:
		f.steps["delete"]++
		f.must(f.live.Delete(f.ctx, old))
		delete(f.wanted, n)
	case draw < 5:
		f.steps["rename"]++
		f.change(n, f.what(old.Name, names[f.random.IntN(2)]))
	default:
		f.steps["change"]++
		f.change(n, f.what(old.Name, old.Spec.Subdomain))
	}
}

// change gives an object another spec.
func (f *stream) change(n int, to *v1alpha1.DNSRecord) {
	f.Helper()
	o := f.record(to.Name, f.class, "A x 192.0.2.1")
	f.must(f.live.Get(f.ctx, client.ObjectKeyFromObject(o), o))
	before := o.DeepCopy()
	o.Spec = to.Spec
	f.must(f.live.Patch(f.ctx, o, client.MergeFrom(before)))
	f.wanted[n] = to
}

// zone is what BIND is to have.
func (f *stream) zone() map[string]string {
	out := map[string]string{}
	for _, o := range f.wanted {
		values := strings.Join(o.Spec.Values, " ")
		switch o.Spec.Type {
		case "CNAME":
			values += "."
		case "TXT":
			values = `"` + values + `"`
		}
		out[o.Spec.Subdomain+"."+zone+". "+string(o.Spec.Type)] = "300 " + values
	}
	return out
}
