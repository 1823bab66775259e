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

const inOneWish = 500 // names in a DNSEndpoint

// handedTo is who takes the zone. It knows of external-dns' registry from the beginning.
const handedTo = `
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: v1
kind: Secret
metadata: {name: aws, namespace: %[4]s}
stringData: {AWS_ACCESS_KEY_ID: %[5]q, AWS_SECRET_ACCESS_KEY: %[6]q}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: %[1]s}
spec:
  protection: {}
  registries: [%[3]s]
  rfc2136: {servers: [%[2]q], tsig: {keyName: bind., secretRef: {name: bind, key: key}}}
`

// A handover is a zone that changes hands, and what is asked of it meanwhile.
type handover struct {
	*testing.T
	command   string // zonefold
	namespace string // also the zone's first label, and the Backend's name
	handed    int    // names in the zone, a multiple of inOneWish
	table     *table // where external-dns notes what it owns; nil: in the zone
	old       *follower
	witness   *witness
}

// TestAZoneChangesHandsAndBack has external-dns fill a zone of 5,000 names, zonefold take it with "zonefold adopt", and
// external-dns get it back with "zonefold disown". Somebody asks all the time, and no answer may be wrong.
func TestAZoneChangesHandsAndBack(t *testing.T) {
	(&handover{T: t, namespace: "moves", handed: 5000}).thereAndBack("{}")
}

// TestAZoneChangesHandsAndBackByATable does the same with an external-dns that notes in a table what it owns.
func TestAZoneChangesHandsAndBackByATable(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", userOfTable)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretOfTable)
	table := startTable(t)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", table.url)
	(&handover{T: t, namespace: "tables", handed: 500, table: table}).thereAndBack(
		fmt.Sprintf("{dynamoDB: {endpoint: %q, secretRef: {name: aws}}}", table.url))
}

// thereAndBack has a zone change hands twice. The registry is that of external-dns, as a Backend has it.
func (h *handover) thereAndBack(registry string) {
	var err error
	if h.command, err = testoperator.BuildCommand(h.Context(), h.TempDir()); err != nil {
		h.Fatal(err)
	}
	kubectl(h.T, fmt.Sprintf(handedTo, h.namespace, here.bind.Addr(), registry, testoperator.Namespace,
		userOfTable, secretOfTable), "apply", "-f", "-")
	h.fill()
	h.imported()
	h.adopt()
	h.disown()
	h.witness.stop()
	h.witness.saw(h.T, "all the way")
}

// eventually waits for what thousands of records make take long on a busy machine.
func (h *handover) eventually(what string, check func() string) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), 5*time.Minute)
	defer cancel()
	testcluster.Eventually(ctx, h.T, what, check)
}

func (h *handover) zone() string { return h.namespace + ".example" }

// mine has external-dns give mine of the zone an address.
func (h *handover) mine(address string) {
	h.Helper()
	wish := fmt.Sprintf("{dnsName: mine.%s, recordType: A, recordTTL: 300, targets: [%s]}", h.zone(), address)
	kubectl(h.T, wishes(h.namespace, "mine", wish), "apply", "-f", "-")
}

func address(i int) string { return fmt.Sprintf("10.9.%d.%d", i/250, i%250) }

// wish is what external-dns is to have of the names from one on.
func (h *handover) wish(from int) string {
	var all []string
	for i := from; i < from+inOneWish; i++ {
		all = append(all, fmt.Sprintf("{dnsName: n%d.%s, recordType: A, recordTTL: 300, targets: [%s]}", i, h.zone(),
			address(i)))
	}
	return wishes(h.namespace, fmt.Sprintf("from-%d", from), all...)
}

// fill has external-dns write all names, and has them asked for from then on.
func (h *handover) fill() {
	h.Helper()
	host, port, err := net.SplitHostPort(here.bind.Addr())
	if err != nil {
		h.Fatal(err)
	}
	h.old = &follower{T: h.T, flags: []string{"--provider=rfc2136", "--rfc2136-host=" + host, "--rfc2136-port=" + port,
		"--rfc2136-zone=" + h.zone(), "--rfc2136-tsig-keyname=bind", "--rfc2136-tsig-secret=" + here.bindKey,
		"--rfc2136-tsig-secret-alg=hmac-sha256", "--rfc2136-axfr", "--registry=txt", "--txt-owner-id=prod", "--policy=sync",
		"--source=crd", "--namespace=" + h.namespace}}
	if h.table != nil {
		h.old.flags = append(h.old.flags, "--registry=dynamodb", "--dynamodb-region=eu-west-1")
	}
	want := []answered{{h.zone() + ". NS", "NOERROR", []string{"300 localhost."}},
		{"n1." + h.zone() + ". AAAA", "NOERROR", nil}, {"nobody." + h.zone() + ". A", "NXDOMAIN", nil}}
	for from := 0; from < h.handed; from += inOneWish {
		kubectl(h.T, h.wish(from), "apply", "-f", "-")
		for i := from; i < from+inOneWish; i++ {
			want = append(want, answered{fmt.Sprintf("n%d.%s. A", i, h.zone()), "NOERROR", []string{"300 " + address(i)}})
		}
	}
	h.mine("10.9.255.1")
	h.old.once()
	h.notes(h.handed + 1)
	h.witness = watch(h.T, here.bind.Addr(), want)
}

// notes fails unless there are as many notes of external-dns.
func (h *handover) notes(want int) {
	h.Helper()
	name, err := dnsname.Parse(h.zone() + ".")
	if err != nil {
		h.Fatal(err)
	}
	h.eventually("notes of external-dns", func() string {
		sets, err := here.bind.Transfer(h.Context(), name)
		got := 0
		if h.table != nil {
			got = h.table.items()
		}
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
	args := []string{"import", "axfr", here.bind.Addr(), h.zone(), "--tsig", key, "-n", h.namespace,
		"--txt-owner-id", "prod"}
	if h.table != nil {
		args = append(args, "--registry", "dynamodb", "--dynamodb-endpoint", h.table.url)
	}
	kubectl(h.T, h.zonefold(0, args...), "create", "-f", "-")
	kubectl(h.T, "", "patch", "zones.kubi.zone/"+h.namespace+"-example", "-n", h.namespace, "--type=merge", "-p",
		fmt.Sprintf(`{"spec":{"backendRefs":[{"name":%q}]}}`, h.namespace))
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
	return kubectl(h.T, "", "get", "records.kubi.zone", "-n", h.namespace, "-o",
		`jsonpath={.items[?(@.spec.domainName=="`+name+`.`+h.zone()+`.")].status.conditions[*].reason}`)
}

// adopt has zonefold take the zone. With notes in the zone, external-dns still runs. It reads a table only when it
// starts, so it starts when zonefold has taken the zone.
func (h *handover) adopt() {
	h.Helper()
	var log *testoperator.Journal
	var end func()
	if h.table == nil {
		log, end = h.old.run("--interval=5s")
	}
	flags := []string{h.zone(), "--external-dns-owner", "prod", "--kubeconfig", here.Cluster.Kubeconfig()}
	out := h.zonefold(0, append([]string{"adopt", "--yes"}, flags...)...)
	want := fmt.Sprintf("%d sets of \"prod\" that objects ask for become zonefold's, 0 that", h.handed+1)
	if !strings.Contains(out, want) {
		h.Errorf("adopt does not say %q:\n%s", want, out[max(0, len(out)-300):])
	}
	kubectl(h.T, "", "wait", "zones.kubi.zone/"+h.namespace+"-example", "-n", h.namespace, "--for=condition=Served",
		"--timeout=300s")
	h.notes(0)
	if h.table != nil {
		log, end = h.old.run("--interval=5s")
	}
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
	answers(h.T, []string{here.bind.Addr()}, "mine."+h.zone()+". A", "300 10.9.255.2")
}

// sets gives the Record of mine in the zone another address.
func (h *handover) sets(address string) {
	h.Helper()
	name := kubectl(h.T, "", "get", "records.kubi.zone", "-n", h.namespace, "-o",
		`jsonpath={.items[?(@.spec.domainName=="mine.`+h.zone()+`.")].metadata.name}`)
	kubectl(h.T, "", "patch", "records.kubi.zone/"+name, "-n", h.namespace, "--type=merge", "-p",
		fmt.Sprintf(`{"spec":{"rdata":%q}}`, address))
}

// disown gives the zone back. Then external-dns finds all as it left it, and what zonefold had of it can go.
func (h *handover) disown() {
	h.Helper()
	flags := []string{"disown", h.zone(), "--external-dns-owner", "prod", "--yes", "--kubeconfig",
		here.Cluster.Kubeconfig()}
	h.zonefold(2, flags...)
	h.notes(h.handed + 1)
	h.eventually("the Backend only observes", func() string {
		if code, out := h.run(flags...); code != 0 {
			return fmt.Sprintf("disown exits with %d:\n%s", code, out[max(0, len(out)-300):])
		}
		return ""
	})
	h.mine("10.9.255.2")
	if log := h.old.once(); !strings.Contains(log, "All records are already up to date") {
		h.Errorf("external-dns finds something to do:\n%s", log)
	}
	h.witness.saw(h.T, "zonefold has given the zone back")
	kubectl(h.T, "", "delete", "zones.kubi.zone/"+h.namespace+"-example", "-n", h.namespace)
	h.mine("10.9.255.3")
	h.old.once()
	answers(h.T, []string{here.bind.Addr()}, "mine."+h.zone()+". A", "300 10.9.255.3")
	h.notes(h.handed + 1)
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
