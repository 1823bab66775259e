package docs_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// An execution says of a block of commands, by its page and how it begins, which test executes it, or why none does.
type execution struct{ page, begins, test, not string }

// executions are in the order of the pages' names and of the blocks in them. A block without an entry fails the test,
// so that whoever writes one decides.
func executions() []execution {
	const (
		shows  = "it shows the form of a command that needs names of yours"
		elsewh = "it needs a program or an account that is not on this machine"
	)
	return []execution{
		{page: "CONTRIBUTING.md", begins: "make help", not: "they are the tests themselves"},
		{page: "README.md", begins: "$ go build -o bin/", test: "internal/cli TestTheReadmeShowsWhatServeDoes"},
		{page: "README.md", begins: "make demo ",
			not: "it goes on until somebody ends it; the scenarios have the same objects"},
		{page: "docs/admission.md", begins: "$ kubectl apply -f records.yaml", test: "test/admission TestEachSentence"},
		{page: "docs/admission.md", begins: "kubectl create configmap webhook-clients", not: shows},
		{page: "docs/alerts.md", begins: "kubectl get zones,records,backends -A", not: "they print whatever is wrong"},
		{page: "docs/alerts.md", begins: "kubectl -n zonefold-system get lease", not: "it prints whoever led last"},
		{page: "docs/alerts.md", begins: "kubectl get records -A | grep", not: "it prints whatever is wrong"},
		{page: "docs/alerts.md", begins: "kubectl get zones -A -o wide", not: "they print whatever is held"},
		{page: "docs/alerts.md", begins: "kubectl get backends -o jsonpath", not: "it prints whatever is left behind"},
		{page: "docs/alerts.md", begins: "kubectl get events", not: "it prints whatever cannot be read"},
		{page: "docs/backends.md", begins: "$ zonefold release example-org", test: "test/scenario TestLeftBehind"},
		{page: "docs/backends.md", begins: "$ kubectl get backend bind", test: "test/scenario TestLeftBehind"},
		{page: "docs/bindcar.md", begins: "bindcar run", not: "it needs a BIND beside it; the Pods of test/e2e run both"},
		{page: "docs/bindy.md", begins: "kubectl apply -f examples/bindy", test: "test/schema TestBindyExamplesApply"},
		{page: "docs/bindy.md", begins: "kubectl apply --server-side", test: "test/moving TestMovingFromTheExistingBindy"},
		{page: "docs/brake.md", begins: "$ zonefold approve example-org", test: "test/scenario TestTheBrake"},
		{page: "docs/brake.md", begins: "$ zonefold approve backend/bind", test: "test/scenario TestLeftBehind"},
		{page: "docs/dnshook-server.md", begins: "mkdir dnshook-server", not: "no version of the module is published"},
		{page: "docs/dnshook-server.md", begins: "printf %s ", test: "examples/dnshook-server TestConformance"},
		{page: "docs/dnshook.md", begins: "CLOUDFLARE_API_TOKEN=", not: elsewh},
		{page: "docs/dnshook.md", begins: "zonefold dnshook conformance", test: "internal/cli TestScripts/dnshook"},
		{page: "docs/embedded.md", begins: "pdnsutil import-tsig-key", test: "docs TestFollowersFollow"},
		{page: "docs/externaldns-webhook.md", begins: "external-dns --source=ingress",
			test: "test/acceptance/externaldns/process TestAHostThatIsNotDelegatedStopsNoOther"},
		{page: "docs/first-hour.md", test: "test/install TestTheFirstHour"},
		{page: "docs/gardener.md", begins: "helm install zonefold", not: shows},
		{page: "docs/gardener.md", begins: "kubectl annotate dnsrecords",
			test: "test/acceptance/gardener TestTheSameIsDoneAsByGardenersController"},
		{page: "docs/gardener.md", begins: "kubectl annotate dnsrecords", not: "it is for a set that nobody can remove"},
		{page: "docs/gardener.md", begins: "kubectl patch dnsrecords", not: "it is for an operator that is gone for good"},
		{page: "docs/gitops.md", begins: "kubectl apply -f dns/", not: shows},
		{page: "docs/gitops.md", begins: "kubectl -n argocd patch",
			not: "it needs Argo CD; config/gitops has tests of the file"},
		{page: "docs/console.md", begins: "$ kubectl zonefold console", test: "test/console TestTenantsSeeWhatIsTheirs"},
		{page: "docs/console.md", begins: "helm upgrade zonefold", not: shows},
		{page: "docs/history.md", begins: "zonefold freeze example.org", test: "test/scenario TestAFrozenZone"},
		{page: "docs/history.md", begins: "zonefold history example.org", test: "test/scenario TestTheHistoryOfAZone"},
		{page: "docs/homelab.md", begins: "kubectl apply -f examples/homelab", not: "its server is at an address of yours"},
		{page: "docs/homelab.md", begins: "kubectl annotate -n production", not: shows},
		{page: "docs/homelab.md", begins: "kubectl patch -n production", not: "it is for an operator that is gone for good"},
		{page: "docs/import.md", begins: "$ zonefold import file", test: "internal/cli TestScripts/import-file"},
		{page: "docs/inspect.md", begins: "zonefold diff", test: "test/inspect TestTenantsInspectTheirOwn"},
		{page: "docs/inspect.md", begins: "kubectl get --raw", test: "test/inspect TestTenantsInspectTheirOwn"},
		{page: "docs/inspect.md", begins: "kubectl delete apiservice", not: "it is for an operator that is gone for good"},
		{page: "docs/install.md", test: "test/install TestInstalling"},
		{page: "docs/metrics.md", begins: "kubectl create clusterrolebinding", not: shows},
		{page: "docs/migrating.md", begins: "kubectl get zones.kubi.zone", not: "its output is examples/migrating"},
		{page: "docs/migrating.md", begins: "$ zonefold check", test: "internal/cli TestTheWaysToMoveLeadWhereTheySay"},
		{page: "docs/migrating.md", begins: "kubectl scale deployment", not: "it ends the operator of another project"},
		{page: "docs/migrating.md", begins: "kubectl get dnszones", not: "its output is examples/migrating"},
		{page: "docs/migrating.md", begins: "$ zonefold check", test: "internal/cli TestTheWaysToMoveLeadWhereTheySay"},
		{page: "docs/migrating.md", begins: "$ zonefold import", test: "internal/cli TestTheWaysToMoveLeadWhereTheySay"},
		{page: "docs/plan.md", begins: "zonefold plan -f zones/", test: "internal/cli TestScripts/plan"},
		{page: "docs/scale.md", begins: "make bench", not: "it measures, for half an hour"},
		{page: "docs/sources.md", begins: "helm upgrade zonefold", not: shows},
		{page: "docs/sources.md", begins: "kubectl get events", not: "it prints whatever has happened"},
		{page: "docs/sources.md", begins: "kubectl get events", not: "it prints whatever has happened"},
		{page: "docs/support.md", begins: "$ zonefold support",
			test: "internal/support TestABundleHasWhatOneMayReadAndNoSecret"},
		{page: "docs/tour.md", begins: "$ kubectl get zones", not: "make demo prints it, and the figures differ each time"},
		{page: "docs/tour.md", begins: "$ kubectl patch", not: "make demo prints it, and the figures differ each time"},
		{page: "docs/tour.md", begins: "$ kubectl get dnszones",
			not: "make demo prints it, and the figures differ each time"},
		{page: "docs/troubleshooting.md", begins: "kubectl get zones.kubi.zone", not: shows},
		{page: "docs/troubleshooting.md", begins: "zonefold explain", not: shows},
		{page: "docs/updates.md", begins: "nsupdate -y",
			not: "its server is at an address of yours; test/scenario has updates like it"},
		{page: "docs/updates.md", begins: "export RFC2136_NAMESERVER",
			test: "test/acceptance/updates TestLegoOrdersACertificate"},
		{page: "docs/updates.md", begins: "certbot certonly",
			test: "test/acceptance/updates TestCertbotOrdersACertificateForANameAndAllBelowIt"},
		{page: "docs/versions.md", begins: "git tag -s v0.1.0",
			not: "a tag is for good; hack/release TestARelease makes a version without one"},
		{page: "docs/versions.md", begins: "sha256sum --check", not: "no version is published"},
		{page: "docs/versions.md", begins: "git clone --branch",
			not: "no version is published; hack/release TestARelease makes one twice"},
	}
}

// TestEachBlockOfCommandsIsExecutedOrSaysWhyNot compares the blocks of commands of all pages with the list. The shell
// reads each.
func TestEachBlockOfCommandsIsExecutedOrSaysWhyNot(t *testing.T) {
	known, left := packages{}, executions()
	for _, e := range left {
		switch {
		case (e.test == "") == (e.not == ""):
			t.Errorf("%s, %q: it has a test, or a reason why not", e.page, e.begins)
		case e.test != "":
			known.hold(t, e.page+" "+e.begins, "`"+e.test+"`")
		}
	}
	found := 0
	for _, p := range pages(t) {
		if p.path == "docs/cli.md" { // is made from help texts
			continue
		}
		whole := false
		for _, b := range p.commands() {
			found++
			readByShell(t, p, b)
			text := strings.TrimSpace(b.text)
			if at := firstOf(left, p.path, text); at >= 0 {
				if whole = left[at].begins == ""; !whole {
					left = append(left[:at:at], left[at+1:]...)
				}
				continue
			}
			t.Errorf("%s:%d: no entry says which test executes these commands, or why none does:\n%s", p.path, b.line, text)
		}
		if at := firstOf(left, p.path, ""); whole && at >= 0 {
			left = append(left[:at:at], left[at+1:]...)
		}
	}
	for _, e := range left {
		t.Errorf("%s has no block of commands that begins with %q", e.page, e.begins)
	}
	if found < 50 {
		t.Errorf("found %d blocks of commands, which cannot be all", found)
	}
}

// firstOf returns the first entry for a block of a page, or -1. An entry without a beginning is for all of the page.
func firstOf(all []execution, page, text string) int {
	for i, e := range all {
		if e.page == page && strings.HasPrefix(text, e.begins) {
			return i
		}
	}
	return -1
}

// commands returns the blocks that people type: those of the language sh, and those without a language that begin with
// a prompt or with a program.
func (p page) commands() []block {
	programs := regexp.MustCompile(`^(\$ |(kubectl|helm|zonefold|nsupdate|make|go|dig|external-dns) )`)
	var found []block
	for _, b := range p.allBlocks() {
		if b.language == "sh" || b.language == "" && programs.MatchString(strings.TrimSpace(b.text)) {
			found = append(found, b.block)
		}
	}
	return found
}

// allBlocks returns the blocks of any language, in their order.
func (p page) allBlocks() []struct {
	block
	language string
} {
	var found []struct {
		block
		language string
	}
	fence := regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```$")
	for _, m := range fence.FindAllStringSubmatchIndex(p.text, -1) {
		found = append(found, struct {
			block
			language string
		}{block{2 + strings.Count(p.text[:m[0]], "\n"), p.text[m[4]:m[5]]}, p.text[m[2]:m[3]]})
	}
	return found
}

// readByShell has a shell read the commands of a block, without executing them. Of a block with prompts, the commands
// are the lines behind them.
func readByShell(t *testing.T, p page, b block) {
	t.Helper()
	script := b.text
	if strings.HasPrefix(strings.TrimSpace(script), "$ ") {
		script = ""
		for _, m := range regexp.MustCompile(`(?m)^ *\$ (.*)$`).FindAllStringSubmatch(b.text, -1) {
			script += m[1] + "\n"
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-n")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s:%d: %v\n%s", p.path, b.line, err, fmt.Sprintf("%s%s", out, script))
	}
}
