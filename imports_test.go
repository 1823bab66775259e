package zonefold_test

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// A fence keeps imports out of folders. A path with a trailing "$" means that package alone, another one its
// subpackages too.
type fence struct {
	name   string
	in     []string          // folders, with what is below them, unless a "$" ends them
	except []string          // folders in these that other rules hold for
	tests  bool              // holds for tests too
	never  map[string]string // import path to the reason
	but    []string          // import paths that are none of these
	only   []string          // outside the standard library and the module itself, nothing but these; nil is no limit
}

func fences() []fence {
	const (
		decide  = "decide here, act in backend or controller"
		clock   = "the caller says when and how long"
		cluster = "this part works without a cluster, and is tested without one"
		helper  = "it starts processes for tests; the product must not"

		together = "it puts the rooms of the dialect together"
	)
	pure := []string{"internal/dnsname", "internal/rr", "internal/zone", "internal/plan",
		"internal/registry", "internal/endpoint"}
	return []fence{{
		name: "pure packages decide and do nothing else", in: pure,
		never: map[string]string{
			"k8s.io": cluster, "sigs.k8s.io": cluster, module + "/api": "an object becomes a claim in internal/dialect",
			"context": clock, "os": decide, "net$": decide, "net/http": decide, "log": decide, "syscall": decide,
			"crypto/rand": decide,
			"math/rand":   "the same input gives the same result", "sync": "one goroutine owns a value; its owner locks",
			module + "/internal/backend": decide, module + "/internal/controller": decide, module + "/dnshook": decide,
		},
		only: []string{"golang.org/x/net/idna", "github.com/miekg/dns", "github.com/tidwall/btree"},
	}, {
		name: "names do not know records", in: []string{"internal/dnsname"},
		never: map[string]string{module + "/internal/rr": "a record has a name, a name has no record",
			"github.com/miekg/dns": "rr and the backends speak DNS"},
	}, {
		name: "zone and plan do not meet", in: []string{"internal/zone"},
		never: map[string]string{module + "/internal/plan": "what a zone holds does not depend on what a server has",
			"github.com/miekg/dns": "rr has read the data already"},
	}, {
		name: "plan and zone do not meet", in: []string{"internal/plan"},
		never: map[string]string{module + "/internal/zone": "a difference is between sets, whoever wanted them",
			"github.com/miekg/dns": "rr has read the data already"},
	}, {
		name: "types import apimachinery only", in: []string{"api"}, only: []string{"k8s.io/apimachinery"},
		never: map[string]string{module + "/internal": "others import our types, and would import all that they need"},
	}, {
		name: "backends know DNS, not Kubernetes", in: []string{"internal/backend", "internal/bind9", "internal/bindcar",
			"internal/hook", "dnshook"}, tests: true,
		never: map[string]string{
			"k8s.io": cluster, "sigs.k8s.io": cluster, module + "/api": "the API changes without the backends",
			module + "/internal/controller": "the controllers drive the backends",
			module + "/internal/zone":       "a backend is given sets",
		},
	}, {
		name: "contract and engine know no kind of server", in: []string{"internal/backend$", "internal/backend/engine"},
		never: map[string]string{module + "/internal/backend/": "it works for any Backend"},
	}, {
		name: "servers do not know what drives them", in: []string{"internal/backend"},
		except: []string{"internal/backend/backendtest"},
		never:  map[string]string{module + "/internal/backend/engine": "the contract says what a call is to do"},
	}, {
		name: "the map of zones knows none", in: []string{"internal/backend/embedded/tree"}, tests: true,
		never: map[string]string{module + "/": "whoever keeps values in it knows what they are"},
	}, {
		name: "sockets carry octets", in: []string{"internal/backend/embedded/sockets"}, tests: true,
		never: map[string]string{module + "/": "the server knows what they mean", "github.com/miekg/dns": "the server knows"},
		but:   []string{module + "/internal/guarded"},
	}, {
		name: "what an object means depends on nothing else", in: []string{"internal/dialect"}, tests: true,
		never: map[string]string{
			"context": clock, "os": decide, "net$": decide, "net/http": decide, "log": decide, "sync": decide,
			"math/rand":        decide,
			"k8s.io/client-go": decide, "sigs.k8s.io/controller-runtime": decide, "k8s.io/utils/clock": clock,
			module + "/internal/backend/": decide, module + "/internal/controller": decide,
			"github.com/miekg/dns": "rr has read the data already",
		},
	}, {
		name: "the command works without the controllers", in: []string{"cmd/zonefold", "internal/cli"},
		never: map[string]string{module + "/internal/controller": "it would link the caches and queues of an operator; " +
			"what objects mean is in internal/dialect"},
	}, {
		name: "what commands are made of knows no command", in: []string{"internal/cli/command"}, tests: true,
		never: commands("", "fold", "ask", "move", "change", "check", "show"),
	}, {
		name: "a fold prints nothing", in: []string{"internal/cli/fold"}, tests: true,
		never: commands("", "command", "ask", "move", "change", "check", "show"),
	}, {
		name: "rooms of the command build on each other in one order", in: []string{"internal/cli/ask", "internal/cli/move"},
		tests: true, never: commands("", "change", "check", "show"),
	}, {
		name: "questions and exchange know nothing of each other", in: []string{"internal/cli/ask"}, tests: true,
		never: commands("move"),
	}, {
		name: "exchange and questions know nothing of each other", in: []string{"internal/cli/move"}, tests: true,
		never: commands("ask"),
	}, {
		name: "what changes zones is asked by others", in: []string{"internal/cli/change"}, tests: true,
		never: commands("", "check", "show"),
	}, {
		name: "what looks for faults shows none of its own", in: []string{"internal/cli/check"}, tests: true,
		never: commands("", "show"),
	}, {
		name: "what is shown is not checked or moved", in: []string{"internal/cli/show"}, tests: true,
		never: commands("", "check", "move"),
	}, {
		name: "pages show values", in: []string{"internal/console"},
		never: map[string]string{
			"k8s.io": "a Source gives values", "sigs.k8s.io": "a Source gives values", module + "/api": "a Source gives values",
			"os": "the command reads files", module + "/internal/backend": "a Source asks servers",
		},
	}, {
		name: "controllers know the engine, not the backends", in: []string{"internal/controller"},
		except: []string{"internal/controller/bindy/bindytest"}, // a control plane for tests
		but:    []string{module + "/internal/backend/engine"},
		never: map[string]string{
			module + "/internal/backend/": "parts are put together in cmd/", "github.com/miekg/dns": "the backends speak DNS",
			module + "/internal/nameserver": helper, module + "/internal/testcluster": helper,
		},
	}, {
		name: "what writes to the cluster knows no object of ours", in: []string{"internal/controller/objects"}, tests: true,
		never: map[string]string{module + "/": "the controllers say what is written"},
		but:   []string{module + "/internal/guarded"},
	}, {
		name: "what dialects share knows none of them", in: []string{"internal/controller$"}, tests: true,
		never: map[string]string{module + "/internal/controller/": "both Core and Deliveries use it, and so do dialects"},
		but:   []string{module + "/internal/controller/objects"},
	}, {
		name: "the Core knows nothing of servers", in: []string{"internal/controller/core"}, tests: true,
		never: map[string]string{module + "/internal/controller/": "others are told of each Settlement",
			module + "/internal/backend": "others are told of each Settlement"},
	}, {
		name: "deliveries know no dialect", in: []string{"internal/controller/delivery"},
		never: map[string]string{module + "/internal/controller/": "a Store is all that they know of one"},
		but:   []string{module + "/internal/controller/core", module + "/internal/controller/objects"},
	}, {
		name: "a history knows no dialect", in: []string{"internal/controller/history"}, tests: true,
		never: map[string]string{module + "/internal/controller/": "dialects tell it what changes"},
		but:   []string{module + "/internal/controller/objects"},
	}, {
		name: "a fleet asks for zones through its interface", in: []string{"internal/controller/bindy/fleet"}, tests: true,
		never: map[string]string{
			module + "/internal/controller/bindy$": together, module + "/internal/controller/bindy/zones": "see fleet.Zones",
		},
	}, {
		name: "zones know no fleet", in: []string{"internal/controller/bindy/zones"}, tests: true,
		never: map[string]string{
			module + "/internal/controller/bindy$":      together,
			module + "/internal/controller/bindy/fleet": "it makes servers, which are found in package servers",
		},
	}, {
		name: "servers know neither fleet nor zones", tests: true,
		in: []string{"internal/controller/bindy/servers", "internal/controller/bindy/bindytest"},
		never: map[string]string{
			module + "/internal/controller/bindy$":      together,
			module + "/internal/controller/bindy/fleet": "both rooms use this one",
			module + "/internal/controller/bindy/zones": "both rooms use this one",
		},
	}, {
		name: "who calls servers of DNSClasses knows no DNSRecord", in: []string{"internal/controller/homelab/servers"},
		tests: true, never: map[string]string{
			module + "/internal/controller/homelab$": "it has servers told of DNSRecords, and asks this room",
			module + "/internal/controller/core":     "who has a record is for package homelab to follow",
		},
	}, {
		name: "nothing but tests and hack starts servers", in: []string{"api", "cmd", "dnshook", "internal"},
		except: []string{
			"internal/testcluster", "internal/testoperator", "internal/nameserver", "internal/backend/backendtest",
			"internal/controller/bindy/bindytest",
			// services, for the time of a test
			"internal/backend/cloudflare/cloudflaretest", "internal/backend/googleclouddns/clouddnstest",
			"internal/backend/extdns/extdnstest",
		},
		never: map[string]string{
			module + "/internal/testcluster": helper, module + "/internal/testoperator": helper,
			module + "/internal/nameserver": helper, module + "/internal/controller/bindy/bindytest": helper,
			"testing": "it is not in the product",
		},
	}, {
		name: "a test cluster starts at once", in: []string{"internal/testcluster"}, tests: true,
		never: map[string]string{"k8s.io": "starting a cluster must not wait for a compile of client-go",
			"sigs.k8s.io": "starting a cluster must not wait for a compile of client-go"},
	}}
}

// commands are rooms of the command, which others must not import; "" is the one that puts them together.
func commands(rooms ...string) map[string]string {
	never := map[string]string{}
	for _, room := range rooms {
		path := module + "/internal/cli/" + room
		if room == "" {
			path = module + "/internal/cli$"
		}
		never[path] = "ARCHITECTURE.md has the order of the rooms"
	}
	return never
}

// within reports whether a file is in a fence.
func within(file string, folders []string) bool {
	return inAny(file, folders) || slices.Contains(folders, path.Dir(file)+"$")
}

func TestImports(t *testing.T) {
	for _, f := range fences() {
		for _, file := range goFiles(t) {
			if !within(file.path, f.in) || inAny(file.path, f.except) || file.isTest && !f.tests {
				continue
			}
			for _, imported := range file.imports() {
				for pattern, reason := range f.never {
					if imports(imported, pattern) && !slices.Contains(f.but, imported) {
						t.Errorf("%s: %s imports %s: %s", f.name, file.path, imported, reason)
					}
				}
				outside := strings.Contains(strings.Split(imported, "/")[0], ".") && !imports(imported, module)
				if f.only != nil && outside && !slices.ContainsFunc(f.only, func(p string) bool { return imports(imported, p) }) {
					t.Errorf("%s: %s imports %s, which is not one of %s", f.name, file.path, imported, strings.Join(f.only, ", "))
				}
			}
		}
	}
}

// imports reports whether an import path is one that a pattern means: "x" is x and all below it, "x$" x alone, "x/"
// only what is below.
func imports(imported, pattern string) bool {
	if alone, ok := strings.CutSuffix(pattern, "$"); ok {
		return imported == alone
	}
	if strings.HasSuffix(pattern, "/") {
		return strings.HasPrefix(imported, pattern)
	}
	return imported == pattern || strings.HasPrefix(imported, pattern+"/")
}
