package updates

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// startKea runs Kea's DHCP-DDNS and returns a socket at which it listens to DHCP servers, and its log.
func startKea(t *testing.T) (net.Conn, *testoperator.Journal) {
	t.Helper()
	dir, listen := t.TempDir(), freeAddress(t)
	_, port, _ := net.SplitHostPort(listen)
	config := filepath.Join(dir, "kea.conf")
	write(t, config, strings.ReplaceAll(example(t, "Kea", "json"), "53001", port))
	log := &testoperator.Journal{}
	cmd := exec.CommandContext(t.Context(), "kea-dhcp-ddns", "-c", config)
	cmd.Env = append(os.Environ(), "KEA_PIDFILE_DIR="+dir, "KEA_LOCKFILE_DIR="+dir)
	startProgram(t, cmd, log)
	number, _ := strconv.Atoi(port)
	eventually(t, "Kea listens", func() string {
		sockets, err := os.ReadFile("/proc/net/udp")
		if err != nil || !strings.Contains(string(sockets), fmt.Sprintf(" 0100007F:%04X ", number)) {
			return fmt.Sprintf("it says %s (%v)", log, err)
		}
		return ""
	})
	requests, err := net.Dial("udp", listen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = requests.Close() })
	return requests, log
}

// A lease is what a DHCP server tells DHCP-DDNS of a client: a request for a change of names (NCR).
type lease struct {
	gone     bool
	address  string
	identity string // hex, of a DHCID
	zones    string // forward, reverse or both
}

// Which zones change.
const (
	forward = "forward"
	reverse = "reverse"
	both    = "both"
)

// host is the name that clients want.
const host = "h.dyn.example.org."

// tell sends a request as kea-dhcp4 does: its length, and JSON.
func (l lease) tell(t *testing.T, to net.Conn) {
	t.Helper()
	change := 0
	if l.gone {
		change = 1
	}
	text := fmt.Sprintf(`{"change-type": %d, "forward-change": %t, "reverse-change": %t, "fqdn": %q,
		"ip-address": %q, "dhcid": %q, "lease-expires-on": "20401201000000", "lease-length": 3600,
		"use-conflict-resolution": true}`, change, l.zones != reverse, l.zones != forward, host, l.address,
		l.identity)
	if _, err := to.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...)); err != nil {
		t.Fatal(err)
	}
}

// Two clients (RFC 4701 §3.3): a DHCID as DHCP servers write it, and as DNS has it.
const (
	one       = "000201636FC0B8271C82825BB1AC5C41CF5351AA69B4FEBD94E8F17CDB95000DA48C40"
	oneText   = "AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA="
	other     = "000101394D0AE6BAB0A5F24CA0C24F1E6D3B1C90AB7E5F0D3B1E1B6E1F6A1A2C3D4E5F"
	otherText = "AAEBOU0K5rqwpfJMoMJPHm07HJCrfl8NOx4bbh9qGiw9Tl8="
)

// Kea's DHCP-DDNS gives a name to its first client by prerequisites and a DHCID, as RFC 4703 says, and by that alone
// keeps it from others.
func TestKeasLeases(t *testing.T) {
	kea, log := startKea(t)
	for _, step := range []struct {
		name     string
		lease    lease
		says     string
		address  string // of the host then; "": it has no name
		identity string
		pointer  string // at the address of the lease then
	}{
		{"a client gets a name", lease{address: "192.0.2.1", identity: one, zones: both}, "ADD_SUCCEEDED",
			"192.0.2.1", oneText, host},
		{"it renews its lease", lease{address: "192.0.2.1", identity: one, zones: both}, "ADD_SUCCEEDED",
			"192.0.2.1", oneText, host},
		{"it gets another address", lease{address: "192.0.2.2", identity: one, zones: both}, "ADD_SUCCEEDED",
			"192.0.2.2", oneText, host},
		{"its old lease ends, which Kea sees as a failure, for the name is still in use",
			lease{gone: true, address: "192.0.2.1", identity: one, zones: forward}, "REMOVE_FAILED",
			"192.0.2.2", oneText, host},
		{"nothing leads back to it any more", lease{gone: true, address: "192.0.2.1", identity: one, zones: reverse},
			"REMOVE_SUCCEEDED", "192.0.2.2", oneText, ""},
		{"another client wants the name", lease{address: "192.0.2.3", identity: other, zones: both},
			"ADD_FAILED", "192.0.2.2", oneText, ""},
		{"another client's lease of that name ends", lease{gone: true, address: "192.0.2.2", identity: other,
			zones: forward},
			"REMOVE_FAILED", "192.0.2.2", oneText, host},
		{"the lease ends", lease{gone: true, address: "192.0.2.2", identity: one, zones: both},
			"REMOVE_SUCCEEDED", "", "", ""},
		{"the other client gets the name", lease{address: "192.0.2.3", identity: other, zones: both},
			"ADD_SUCCEEDED", "192.0.2.3", otherText, host},
		{"its lease ends, too", lease{gone: true, address: "192.0.2.3", identity: other, zones: both},
			"REMOVE_SUCCEEDED", "", "", ""},
	} {
		before := len(log.String())
		step.lease.tell(t, kea)
		eventually(t, step.name, func() string {
			if said := log.String()[before:]; !strings.Contains(said, "DHCP_DDNS_"+step.says+" ") {
				return fmt.Sprintf("Kea does not say %s:\n%s", step.says, said)
			}
			return ""
		})
		answers(t, host+" A", some(step.address)...)
		answers(t, host+" DHCID", some(step.identity)...)
		pointer, _ := dns.ReverseAddr(step.lease.address)
		answers(t, pointer+" PTR", some(step.pointer)...)
	}
	nothingIsLeft(t, "dhcp", log.String())
}

func some(data string) []string { return strings.Fields(data) }
