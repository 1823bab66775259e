package route53

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

const (
	balancer = "net-0123.elb.eu-west-1.amazonaws.com."
	another  = "app-0123.eu-west-1.elb.amazonaws.com."
)

// at is what the server has at a name, without what the apex always has.
func (r *rig) at(name string) string {
	var out []string
	sets, _ := r.server.Sets(r.id)
	for _, s := range sets {
		switch {
		case s.Name != name || s.Type == "NS" || s.Type == "SOA":
		case s.AliasTarget != nil:
			out = append(out, fmt.Sprintf("%s alias %s %s %v", s.Type, s.AliasTarget.DNSName, s.AliasTarget.HostedZoneID,
				s.AliasTarget.EvaluateTargetHealth))
		default:
			out = append(out, s.Type+" "+strings.Join(s.Records, ","))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func (r *rig) hinted(name, hint, target string) plan.Change {
	set := r.set(name, rr.TypeCNAME, target)
	set.Hint = hint
	return put(set)
}

func TestAliases(t *testing.T) {
	r := newRig(t, route53test.Options{})
	gone := plan.Change{Key: r.set("api", rr.TypeCNAME, balancer).Key()}
	v4, v6 := "A alias "+balancer+" Z2IFOLAFXWLO4F true", "AAAA alias "+balancer+" Z2IFOLAFXWLO4F true"
	for _, step := range []struct {
		what   string
		change plan.Change
		want   string
	}{
		{"a CNAME to a host", r.hinted("api", "ipv4", "host.example.net."), "CNAME host.example.net."},
		{"…becomes an alias when it points to a load balancer", r.hinted("api", "ipv4", balancer), v4},
		{"…which it stays", r.hinted("api", "ipv4", balancer), v4},
		{"…to another one, of another kind", r.hinted("api", "ipv4", another), "A alias " + another + " Z32O12XQLNTSW2 true"},
		{"…with both families", r.hinted("api", "dual-stack", balancer), v4 + "; " + v6},
		{"…with IPv6 alone", r.hinted("api", "ipv6", balancer), v6},
		{"…with both again", r.hinted("api", "dual-stack", balancer), v4 + "; " + v6},
		{"…with IPv4 alone, and the other one is not forgotten", r.hinted("api", "ipv4", balancer), v4},
		{"…a CNAME to a host again", r.hinted("api", "ipv4", "host.example.net."), "CNAME host.example.net."},
		{"…both families in place of it", r.hinted("api", "dual-stack", balancer), v4 + "; " + v6},
		{"…what lies beneath, which is a plain one", r.hinted("api", rr.HintPlain, balancer), "CNAME " + balancer},
		{"…an alias once more", r.hinted("api", "dual-stack", balancer), v4 + "; " + v6},
		{"…nothing", gone, ""},
		{"…nothing, when there is nothing", gone, ""},
		{"…both families", r.hinted("api", "dual-stack", balancer), v4 + "; " + v6},
		{"…which are deleted by name", drop(r.hinted("api", "dual-stack", balancer).Want), ""},
		{"…IPv6 alone", r.hinted("api", "ipv6", another), "AAAA alias " + another + " Z32O12XQLNTSW2 true"},
		{"…which is deleted though it is believed to be something else", drop(r.hinted("api", "dual-stack", balancer).Want),
			""},
		{"a plain CNAME to a host", r.hinted("api", "ipv4", "host.example.net."), "CNAME host.example.net."},
		{"…goes as well", gone, ""},
		{"a CNAME of a Zone stays one, whatever it points to", put(r.set("api", rr.TypeCNAME, balancer)),
			"CNAME " + balancer},
	} {
		t.Run(step.what, func(t *testing.T) {
			result, err := r.apply(step.change)
			if got := r.at("api.example.org."); got != step.want || err != nil || len(result.Rejected) > 0 {
				t.Errorf("there is %q (%v, %v), want %q", got, result.Rejected, err, step.want)
			}
		})
	}
}

func TestWhatIsNoAliasOfOurs(t *testing.T) {
	r := newRig(t, route53test.Options{})
	t.Run("the apex may have an alias", func(t *testing.T) {
		if _, err := r.apply(r.hinted("", "ipv4", balancer)); err != nil ||
			!strings.HasPrefix(r.at("example.org."), "A alias") {
			t.Errorf("there is %q: %v", r.at("example.org."), err)
		}
	})
	t.Run("addresses that somebody has put there are not lost to a CNAME", func(t *testing.T) {
		set := r.set("taken", rr.TypeA, "192.0.2.1")
		if _, err := r.apply(put(set)); err != nil {
			t.Fatal(err)
		}
		_, err := r.apply(r.hinted("taken", "ipv4", "host.example.net."))
		wants(t, err, backend.ErrRejected, backend.CauseInvalid, "conflicts with other records")
		if _, err := r.apply(plan.Change{Key: rr.Key{Name: set.Name, Type: rr.TypeCNAME}}); err != nil || r.at(
			"taken.example.org.") != "A 192.0.2.1" {
			t.Errorf("there is %q: %v", r.at("taken.example.org."), err)
		}
	})
	t.Run("an alias to something else stays when a CNAME is deleted", func(t *testing.T) {
		r.server.Put(r.id, route53test.Set{Name: "cdn.example.org", Type: "A",
			AliasTarget: &route53test.Alias{HostedZoneID: "Z2FDTNDATAQYW2", DNSName: "d1.cloudfront.net."}})
		if _, err := r.apply(plan.Change{Key: r.set("cdn", rr.TypeCNAME, balancer).Key()}); err != nil ||
			!strings.Contains(r.at("cdn.example.org."), "cloudfront") {
			t.Errorf("there is %q: %v", r.at("cdn.example.org."), err)
		}
	})
	t.Run("an AAAA set in the same batch is its own business", func(t *testing.T) {
		if _, err := r.apply(r.hinted("both", "dual-stack", balancer)); err != nil {
			t.Fatal(err)
		}
		if _, err := r.apply(r.hinted("both", "ipv4", balancer), put(r.set("both", rr.TypeAAAA, "2001:db8::1"))); err != nil {
			t.Fatal(err)
		}
		if got := r.at("both.example.org."); got != "A alias "+balancer+" Z2IFOLAFXWLO4F true; AAAA 2001:db8::1" {
			t.Errorf("there is %q", got)
		}
	})
	t.Run("many at once", func(t *testing.T) {
		var there, gone []plan.Change
		for i := range 20 {
			c := r.hinted(fmt.Sprintf("n%d", i), "dual-stack", balancer)
			there, gone = append(there, c), append(gone, plan.Change{Key: c.Key})
		}
		if _, err := r.apply(there...); err != nil || !strings.Contains(r.at("n19.example.org."), "AAAA alias") {
			t.Errorf("there is %q: %v", r.at("n19.example.org."), err)
		}
		before := r.server.Count("ListResourceRecordSets")
		if _, err := r.apply(gone...); err != nil || r.at("n19.example.org.") != "" {
			t.Errorf("there is %q: %v", r.at("n19.example.org."), err)
		}
		if n := r.server.Count("ListResourceRecordSets") - before; n > 1 {
			t.Errorf("%d calls list what goes", n)
		}
	})
}

func TestBalancerZone(t *testing.T) {
	for target, want := range map[string]string{
		balancer: "Z2IFOLAFXWLO4F",
		another:  "Z32O12XQLNTSW2",
		"dualstack.app-1.us-east-1.elb.amazonaws.com.":   "Z35SXDOTRQ7X7K",
		"x.elb.cn-north-1.amazonaws.com.cn.":             "Z3QFB96KMJ7ED6",
		"x.cn-north-1.elb.amazonaws.com.cn.":             "Z1GDH35T77C1KE",
		"a0123.awsglobalaccelerator.com.":                "Z2BJ6XQ5FK7U4H",
		"x.elb.cn-north-1.amazonaws.com.":                "",
		"x.elb.eu-west-1.amazonaws.com.cn.":              "",
		"eu-west-1.elb.amazonaws.com.":                   "",
		"x.elb.mars-1.amazonaws.com.":                    "",
		"x.elb.eu-west-1.amazonaws.com.example.net.":     "",
		"x.elb.eu-west-1.amazonaws.example.net.":         "",
		"awsglobalaccelerator.com.":                      "",
		"ec2-192-0-2-1.eu-west-1.compute.amazonaws.com.": "",
		"com.":                               "",
		".":                                  "",
		"x.elb.amazonaws.com.":               "",
		"evil-elb.eu-west-1.amazonaws.com.":  "",
		"x.y.z.elb.eu-west-1.amazonaws.com.": "Z2IFOLAFXWLO4F",
		`a\.elb.eu-west-1.amazonaws.com.`:    "",
		`a.elb.eu-west-1.amazonaws\.com.`:    "",
	} {
		if got := balancerZone(target); got != want {
			t.Errorf("%s is in %q, want %q", target, got, want)
		}
	}
}
