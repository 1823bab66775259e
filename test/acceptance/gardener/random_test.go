package gardener

import (
	"flag"
	"math/rand/v2"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// seed is a flag so that what was found once can be found again, and what was not yet can be looked for.
var seed = flag.Uint64("seed", 1, "where random objects begin")

// random returns a source of random numbers, which a test that fails says.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("again with: go test -run '^%s$' . -seed=%d", t.Name(), *seed)
		}
	})
	return rand.New(rand.NewPCG(*seed, 0))
}

func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// often returns usual most of the time, and else one of the others.
func often[T any](r *rand.Rand, usual T, others ...T) T {
	if r.IntN(4) > 0 {
		return usual
	}
	return pick(r, others...)
}

// randomSpec is a specification that is mostly right.
func randomSpec(r *rand.Rand) extensionsv1alpha1.DNSRecordSpec {
	kind := pick(r, typeA, typeAAAA, typeCNAME, typeTXT)
	s := extensionsv1alpha1.DNSRecordSpec{
		DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: often(r, "powerdns", "rfc2136", "aws-route53", "")},
		SecretRef: corev1.SecretReference{Name: often(r, "credentials", ""),
			Namespace: often(r, "", "default", "elsewhere")},
		Region:     often(r, nil, ptr.To("eu-west-1"), ptr.To("")),
		Zone:       often(r, nil, ptr.To("Z123"), ptr.To("project/zone"), ptr.To("")),
		Name:       randomName(r),
		RecordType: often(r, kind, "MX", "", "a", "SOA"),
		TTL: often(r, nil, ptr.To[int64](0), ptr.To[int64](1), ptr.To[int64](-1), ptr.To[int64](1<<31-1),
			ptr.To[int64](1<<31), ptr.To[int64](1<<40)),
	}
	for range often(r, 1, 0, 2, 3) {
		s.Values = append(s.Values, often(r, randomValue(r, kind), randomValue(r, typeA), randomValue(r, typeCNAME),
			randomValue(r, typeTXT)))
	}
	return s
}

func randomName(r *rand.Rand) string {
	return often(r, pick(r, "api.foo.example.com", "foo.example.com", "*.ingress.example.com",
		"_acme-challenge.foo.example.com"),
		"", ".", "com", "example.com", "example.com.", "example.com..", ".example.com", "a..example.com", "API.example.com",
		"*.example.com.", "*", "*.", "*.com",
		"*.*.example.com", "a.*.example.com", "**.example.com", "_dmarc.example.com", "__a.example.com",
		"x._domainkey.example.com", "*._a.example.com", "_*.example.com",
		"a_b.example.com", "-a.example.com", "a-.example.com", "xn--bcher-kva.example.com", "bücher.example.com", "1.2",
		"10.0.0.1", "a b.example.com", "a\\.b.example.com",
		label(r, 63)+".example.com", label(r, 64)+".example.com", label(r, 63)+"."+label(r, 63)+"."+label(r, 63)+"."+
			label(r, 61), label(r, 63)+"."+label(r, 63)+"."+label(r, 63)+"."+label(r, 62))
}

func label(r *rand.Rand, length int) string {
	text := make([]byte, length)
	for i := range text {
		text[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[r.IntN(36)]
	}
	return string(text)
}

func randomValue(r *rand.Rand, kind extensionsv1alpha1.DNSRecordType) string {
	switch kind {
	case typeA, typeAAAA:
		return pick(r, "192.0.2.1", "192.0.2.01", "192.0.2", "192.0.2.256", "2001:db8::1", "2001:DB8::1", "::",
			"::ffff:192.0.2.1", "fe80::1%eth0", " 192.0.2.1", "0x7f.1", "1", "")
	case typeCNAME:
		return pick(r, "lb.example.net", "lb.example.net.", "lb", "", "*.example.net", "LB.example.net", "_lb.example.net",
			"192.0.2.1", "a..b", "lb.example.net ", label(r, 64)+".net")
	default:
		return pick(r, "", "text", "with \"quotes\"", "back\\slash", "ümlaut", "\x00", "two\nlines", label(r, 300))
	}
}

// randomRecord is an object that is not stored.
func randomRecord(r *rand.Rand) *extensionsv1alpha1.DNSRecord {
	o := &extensionsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "r-" + label(r, 10)}}
	o.Spec = randomSpec(r)
	return o
}
