package bindy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// nestOf makes lists of which each names the next one several times; the last one has addresses.
func nestOf(depth, width int) map[string]v1beta1.ACL {
	lists := map[string]v1beta1.ACL{}
	for n := range depth {
		name, entry := fmt.Sprintf("list%d", n), fmt.Sprintf("list%d", n+1)
		if n == depth-1 {
			entry = "192.0.2.1"
		}
		lists[name] = slices.Repeat(v1beta1.ACL{entry}, width)
	}
	return lists
}

func TestListsThatNameListsHaveABudget(t *testing.T) {
	var wide v1beta1.ACL
	for n := range 16 {
		wide = append(wide, fmt.Sprintf("list%d", n))
	}
	flat := map[string]v1beta1.ACL{}
	for _, name := range wide {
		flat[name] = slices.Repeat(v1beta1.ACL{"192.0.2.1"}, 64)
	}
	global := func(c v1beta1.Bind9Config) *v1beta1.Bind9Config { return &c }
	cluster := &v1beta1.Bind9Cluster{Spec: v1beta1.Bind9ClusterSpec{CommonSpec: v1beta1.CommonSpec{
		ACLs: nestOf(32, 64), Global: &v1beta1.Bind9Config{AllowQuery: v1beta1.ACL{"list0"}},
	}}}
	cluster.Name = "dns"
	if faults := Faults(cluster, Settings{}, nil); len(faults) != 1 || !strings.Contains(faults[0], "1024 elements") {
		t.Errorf("admission says %q", faults)
	}
	for _, c := range []struct {
		sentence string
		spec     v1beta1.CommonSpec
		elements int // of allow-query
		wrong    string
	}{
		{"1,024 elements are taken", v1beta1.CommonSpec{ACLs: flat, Global: global(v1beta1.Bind9Config{AllowQuery: wide})},
			1024, ""},
		{"one more is not", v1beta1.CommonSpec{ACLs: flat,
			Global: global(v1beta1.Bind9Config{AllowQuery: append(slices.Clone(wide), "::1")})}, 0,
			"spec.global.allowQuery"},
		{"nor where another list of the server has it", v1beta1.CommonSpec{ACLs: flat,
			Global: global(v1beta1.Bind9Config{AllowQuery: wide, AllowTransfer: v1beta1.ACL{"::1"}})}, 0,
			"spec.global.allowTransfer"},
		{"four lists of 64 entries, each of which names the next",
			v1beta1.CommonSpec{ACLs: nestOf(4, 64), Global: global(v1beta1.Bind9Config{AllowQuery: v1beta1.ACL{"list0"}})}, 0,
			"spec.acls.list2"},
		{"32 lists of two entries each", v1beta1.CommonSpec{ACLs: nestOf(32, 2),
			Global: global(v1beta1.Bind9Config{AllowQuery: v1beta1.ACL{"list0"}})}, 0,
			"more than 1024 elements"},
		{"32 lists of one entry each are few elements", v1beta1.CommonSpec{ACLs: nestOf(32, 1),
			Global: global(v1beta1.Bind9Config{AllowQuery: v1beta1.ACL{"list0"}})}, 1, ""},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			files, err := clusterFiles(&c.spec)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) || !strings.Contains(err.Error(), "1024") ||
					len(err.Error()) > 500 {
					t.Errorf("the error is %v, without %q", err, c.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(files["named.conf.options"], "192.0.2.1;"); n != c.elements {
				t.Errorf("%d elements, want %d", n, c.elements)
			}
		})
	}
}

func TestAListIsVisitedOnce(t *testing.T) {
	lists := nestOf(31, 64)
	lists["list30"] = v1beta1.ACL{} // none: whatever names it has no elements
	source := configSource{path: "spec.global", config: &v1beta1.Bind9Config{AllowQuery: v1beta1.ACL{"list0"}},
		role: v1beta1.RolePrimary, acls: lists}
	o, err := source.options()
	if err != nil || len(o.AllowQuery) != 0 {
		t.Errorf("the list has %d elements, %v", len(o.AllowQuery), err)
	}
}
