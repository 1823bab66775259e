package gardener

import (
	"strings"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	typeA     = extensionsv1alpha1.DNSRecordTypeA
	typeAAAA  = extensionsv1alpha1.DNSRecordTypeAAAA
	typeCNAME = extensionsv1alpha1.DNSRecordTypeCNAME
	typeTXT   = extensionsv1alpha1.DNSRecordTypeTXT
)

func TestRecordsOfAShoot(t *testing.T) {
	startOperator(t)
	t.Run("all", func(t *testing.T) {
		for _, c := range []struct {
			name   string
			kind   extensionsv1alpha1.DNSRecordType
			values []string
			ttl    *int64
			want   string
		}{
			{"an address, with the TTL that goes without saying", typeA, []string{"192.0.2.1"}, nil, "120 192.0.2.1"},
			{"several addresses, with a TTL", typeA, []string{"192.0.2.7", "192.0.2.1", "192.0.2.5"}, ptr.To[int64](600),
				"600 192.0.2.1, 600 192.0.2.5, 600 192.0.2.7"},
			{"addresses of IPv6", typeAAAA, []string{"2001:db8::1", "2001:0DB8:0:0::2"}, ptr.To[int64](60),
				"60 2001:db8::1, 60 2001:db8::2"},
			{"a name", typeCNAME, []string{"lb.elsewhere.example"}, nil, "120 lb.elsewhere.example."},
			{"texts", typeTXT, []string{"foo bar", `with "quotes" and \`}, nil, `120 "foo bar", 120 "with \"quotes\" and \\"`},
			{"a text of 300 octets", typeTXT, []string{strings.Repeat("x", 300)}, nil, `120 "` + strings.Repeat("x", 255) +
				`" "` + strings.Repeat("x", 45) + `"`},
		} {
			eachProvider(t, c.name, func(t *testing.T, p provider) {
				f := newFlow(t, p, "record")
				f.values.RecordType, f.values.Values, f.values.TTL = c.kind, c.values, c.ttl
				f.deploy()
				f.want(string(c.kind), c.want)
				if zone := f.object().Status.Zone; zone == nil || strings.TrimSuffix(*zone, ".") != "example.com" {
					t.Errorf("status.zone is %v", ptr.Deref(zone, "not there"))
				}
				f.deploy() // nothing changes, and the timestamp is answered all the same
				f.want(string(c.kind), c.want)
				f.destroy()
				f.want(string(c.kind), "")
			})
		}
		changes(t)
		lives(t)
	})
}

// changes are about what happens to a record that is there.
func changes(t *testing.T) {
	eachProvider(t, "other values and another TTL", func(t *testing.T, p provider) {
		f := newFlow(t, p, "values")
		f.values.Values = []string{"192.0.2.1", "192.0.2.2"}
		f.deploy()
		f.values.Values, f.values.TTL = []string{"192.0.2.3"}, ptr.To[int64](30)
		f.deploy()
		f.want("A", "30 192.0.2.3")
		f.destroy()
		f.want("A", "")
	})
	eachProvider(t, "an address becomes a name and an address again", func(t *testing.T, p provider) {
		f := newFlow(t, p, "switch")
		f.deploy()
		f.values.RecordType, f.values.Values = typeCNAME, []string{"lb.elsewhere.example"}
		f.deploy() // deletes the object, waits, and makes another one
		f.want("CNAME", "120 lb.elsewhere.example.")
		f.values.RecordType, f.values.Values = typeA, []string{"192.0.2.9"}
		f.deploy()
		f.want("CNAME", "")
		f.want("A", "120 192.0.2.9")
		f.destroy()
		f.want("A", "")
	})
	eachProvider(t, "a changed spec waits for the annotation", func(t *testing.T, p provider) {
		f := newFlow(t, p, "bare")
		f.deploy()
		before := f.object()
		changed := before.DeepCopy()
		changed.Spec.Values = []string{"192.0.2.2"}
		if err := here.client.Patch(f.ctx, changed, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		other := newFlow(t, p, "bare-other") // by the time that this is done, the other would have been
		other.deploy()
		f.want("A", "120 192.0.2.1")
		if o := f.object(); o.Status.ObservedGeneration == o.Generation {
			t.Error("a changed spec was taken up without an annotation")
		}
		f.values.Values = []string{"192.0.2.2"}
		f.deploy()
		f.want("A", "120 192.0.2.2")
	})
	eachProvider(t, "what is there already is overwritten, and what somebody changes is deleted all the same",
		func(t *testing.T, p provider) {
			f := newFlow(t, p, "foreign")
			name := f.values.DNSName + "."
			p.put(t, "example.com.", name+" 77 IN A 198.51.100.1", name+` 77 IN TXT "stays"`)
			f.deploy()
			f.want("A", "120 192.0.2.1")
			p.put(t, "example.com.", name+" 77 IN A 198.51.100.2")
			f.deploy()
			f.want("A", "120 192.0.2.1")
			p.put(t, "example.com.", name+" 77 IN A 198.51.100.3")
			f.destroy()
			f.want("A", "")
			f.want("TXT", `77 "stays"`)
		})
	eachProvider(t, "the hosted zone with the longest name", func(t *testing.T, p provider) {
		f := newFlow(t, p, "deep")
		f.values.DNSName = strings.Replace(f.values.DNSName, ".example.com", ".deep.example.com", 1)
		f.secret = without(f.secret, "Zone")
		f.deploy()
		f.want("A", "120 192.0.2.1")
		if zone := f.object().Status.Zone; zone == nil || strings.TrimSuffix(*zone, ".") != "deep.example.com" {
			t.Errorf("status.zone is %v", ptr.Deref(zone, "not there"))
		}
		f.destroy()
		f.want("A", "")
	})
}

// without is a copy of credentials that lacks a key.
func without(data map[string][]byte, key string) map[string][]byte {
	out := map[string][]byte{}
	for k, v := range data {
		if k != key {
			out[k] = v
		}
	}
	return out
}
