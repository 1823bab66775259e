package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	handed    = 5000 // names in the zone that changes hands
	inOneWish = 500  // names in a DNSEndpoint
)

// handedTo is who takes the zone. It knows of external-dns' registry from the beginning.
const handedTo = `
apiVersion: v1
kind: Namespace
metadata: {name: moves}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: moves}
spec:
  protection: {}
  registries: [{}]
  rfc2136: {servers: [%q], tsig: {keyName: bind., secretRef: {name: bind, key: key}}}
`

// A handover is a zone that changes hands, and what is asked of it meanwhile.
type handover struct {
	*testing.T
	command string // zonefold
	old     *follower
	witness *witness
}

// TestAZoneChangesHandsAndBack has external-dns fill a zone of 5,000 names, zonefold take it with "zonefold adopt", and
// external-dns get it back with "zonefold disown". Somebody asks all the time, and no answer may be wrong.
func TestAZoneChangesHandsAndBack(t *testing.T) {
	command, err := testoperator.BuildCommand(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &handover{T: t, command: command}
	kubectl(t, fmt.Sprintf(handedTo, here.bind.Addr()), "apply", "-f", "-")
	h.fill()
	h.imported()
	h.adopt()
	h.disown()
	h.witness.stop()
	h.witness.saw(t, "all the way")
}

// eventually waits for what thousands of records make take long on a busy machine.
func (h *handover) eventually(what string, check func() string) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), 5*time.Minute)
	defer cancel()
	testcluster.Eventually(ctx, h.T, what, check)
}

func address(i int) string { return fmt.Sprintf("10.9.%d.%d", i/250, i%250) }

// wish is what external-dns is to have of the names from one on.
func wish(from int) string {
	var all []string
	for i := from; i < from+inOneWish; i++ {
		all = append(all, fmt.Sprintf("{dnsName: n%d.moves.example, recordType: A, recordTTL: 300, targets: [%s]}", i,
			address(i)))
	}
	return wishes("moves", fmt.Sprintf("from-%d", from), all...)
}

// fill has external-dns write all names, and has them asked for from then on.
func (h *handover) fill() {
	h.Helper()
	host, port, err := net.SplitHostPort(here.bind.Addr())
	if err != nil {
		h.Fatal(err)
	}
	h.old = &follower{T: h.T, flags: []string{"--provider=rfc2136", "--rfc2136-host=" + host, "--rfc2136-port=" + port,
		"--rfc2136-zone=moves.example", "--rfc2136-tsig-keyname=bind", "--rfc2136-tsig-secret=" + here.bindKey,
		"--rfc2136-tsig-secret-alg=hmac-sha256", "--rfc2136-axfr", "--registry=txt", "--txt-owner-id=prod", "--policy=sync",
		"--source=crd", "--namespace=moves"}}
	want := []answered{{"moves.example. NS", "NOERROR", []string{"300 localhost."}},
		{"n1.moves.example. AAAA", "NOERROR", nil}, {"nobody.moves.example. A", "NXDOMAIN", nil}}
	for from := 0; from < handed; from += inOneWish {
		kubectl(h.T, wish(from), "apply", "-f", "-")
		for i := from; i < from+inOneWish; i++ {
			want = append(want, answered{fmt.Sprintf("n%d.moves.example. A", i), "NOERROR", []string{"300 " + address(i)}})
		}
	}
	kubectl(h.T, wishes("moves", "mine", `{dnsName: mine.moves.example, recordType: A, recordTTL: 300, targets: [10.9.255.1]}`),
		"apply", "-f", "-")
	h.old.once()
	h.notes(handed + 1)
	h.witness = watch(h.T, here.bind.Addr(), want)
}

// notes fails unless there are as many notes of external-dns at the server.
func (h *handover) notes(want int) {
	h.Helper()
	name, err := dnsname.Parse("moves.example.")
	if err != nil {
		h.Fatal(err)
	}
	h.eventually("notes of external-dns", func() string {
		sets, err := here.bind.Transfer(h.Context(), name)
		got := 0
		for _, set := range sets {
			if len(set.Data) == 1 && strings.Contains(set.Data[0], "heritage=external-dns,external-dns/owner=prod") {
				got++
			}
		}
		if err != nil || got != want {
			return fmt.Sprintf("there are %d, want %d (%v)", got, want, err)
		}
		return ""
	})
}

// imported has Zone and Records written for what external-dns has. Nothing is served of them yet.
func (h *handover) imported() {
	h.Helper()
	key := filepath.Join(h.TempDir(), "key")
	text := fmt.Sprintf("key bind. { algorithm hmac-sha256; secret %q; };\n", here.bindKey)
	if err := os.WriteFile(key, []byte(text), 0o600); err != nil {
		h.Fatal(err)
	}
	manifests := h.zonefold(0, "import", "axfr", here.bind.Addr(), "moves.example", "--tsig", key, "-n", "moves",
		"--txt-owner-id", "prod")
	kubectl(h.T, manifests, "create", "-f", "-")
	kubectl(h.T, "", "patch", "zones.kubi.zone/moves-example", "-n", "moves", "--type=merge", "-p",
		`{"spec":{"backendRefs":[{"name":"moves"}]}}`)
	h.eventually("a Record of external-dns", func() string {
		if said := h.record("n1"); !strings.Contains(said, "Owned") {
			return "it says " + said
		}
		return ""
	})
	h.witness.saw(h.T, "Records are written")
}

// record returns the reasons that a Record of a name has.
func (h *handover) record(name string) string {
	return kubectl(h.T, "", "get", "records.kubi.zone", "-n", "moves", "-o",
		`jsonpath={.items[?(@.spec.domainName=="`+name+`.moves.example.")].status.conditions[*].reason}`)
}

// adopt has zonefold take the zone while external-dns still runs.
func (h *handover) adopt() {
	h.Helper()
	log, end := h.old.run("--interval=5s")
	flags := []string{"moves.example", "--external-dns-owner", "prod", "--kubeconfig", here.Cluster.Kubeconfig()}
	out := h.zonefold(0, append([]string{"adopt", "--yes"}, flags...)...)
	want := fmt.Sprintf("%d sets of \"prod\" that objects ask for become zonefold's, 0 that", handed+1)
	if !strings.Contains(out, want) {
		h.Errorf("adopt does not say %q:\n%s", want, out[max(0, len(out)-300):])
	}
	kubectl(h.T, "", "wait", "zones.kubi.zone/moves-example", "-n", "moves", "--for=condition=Served", "--timeout=300s")
	h.notes(0)
	rounds := strings.Count(log.String(), "All records are already up to date")
	h.eventually("external-dns leaves everything alone", func() string {
		if now := strings.Count(log.String(), "All records are already up to date"); now < rounds+2 {
			return fmt.Sprintf("it has said so %d times:\n%s", now, log)
		}
		return ""
	})
	end()
	h.witness.saw(h.T, "zonefold has taken the zone")
	h.sets("10.9.255.2")
	answers(h.T, []string{here.bind.Addr()}, "mine.moves.example. A", "300 10.9.255.2")
}

// sets gives the Record of mine.moves.example another address.
func (h *handover) sets(address string) {
	h.Helper()
	name := kubectl(h.T, "", "get", "records.kubi.zone", "-n", "moves", "-o",
		`jsonpath={.items[?(@.spec.domainName=="mine.moves.example.")].metadata.name}`)
	kubectl(h.T, "", "patch", "records.kubi.zone/"+name, "-n", "moves", "--type=merge", "-p",
		fmt.Sprintf(`{"spec":{"rdata":%q}}`, address))
}

// disown gives the zone back. Then external-dns finds all as it left it, and what zonefold had of it can go.
func (h *handover) disown() {
	h.Helper()
	flags := []string{"disown", "moves.example", "--external-dns-owner", "prod", "--yes", "--kubeconfig",
		here.Cluster.Kubeconfig()}
	h.zonefold(2, flags...)
	h.notes(handed + 1)
	h.eventually("the Backend only observes", func() string {
		if code, out := h.run(flags...); code != 0 {
			return fmt.Sprintf("disown exits with %d:\n%s", code, out[max(0, len(out)-300):])
		}
		return ""
	})
	kubectl(h.T, wishes("moves", "mine", `{dnsName: mine.moves.example, recordType: A, recordTTL: 300, targets: [10.9.255.2]}`),
		"apply", "-f", "-")
	if log := h.old.once(); !strings.Contains(log, "All records are already up to date") {
		h.Errorf("external-dns finds something to do:\n%s", log)
	}
	h.witness.saw(h.T, "zonefold has given the zone back")
	kubectl(h.T, "", "delete", "zones.kubi.zone/moves-example", "-n", "moves")
	kubectl(h.T, wishes("moves", "mine", `{dnsName: mine.moves.example, recordType: A, recordTTL: 300, targets: [10.9.255.3]}`),
		"apply", "-f", "-")
	h.old.once()
	answers(h.T, []string{here.bind.Addr()}, "mine.moves.example. A", "300 10.9.255.3")
	h.notes(handed + 1)
}

// zonefold runs the command, which has to end with a code, and returns what it writes to standard output.
func (h *handover) zonefold(code int, args ...string) string {
	h.Helper()
	got, out := h.run(args...)
	if got != code {
		h.Fatalf("zonefold %s exits with %d, not %d:\n%s", strings.Join(args, " "), got, code, out[max(0, len(out)-3000):])
	}
	return out
}

func (h *handover) run(args ...string) (code int, out string) {
	h.Helper()
	var text, said bytes.Buffer
	cmd := exec.CommandContext(h.Context(), h.command, args...)
	cmd.Stdout, cmd.Stderr = &text, &said
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), text.String() + said.String()
	}
	if err != nil {
		h.Fatal(err)
	}
	h.Log(regexp.MustCompile(`(?s)^.*\r`).ReplaceAllString(said.String(), ""))
	return 0, text.String()
}
