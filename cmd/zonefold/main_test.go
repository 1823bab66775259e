package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// asProgram has the test's program be zonefold.
const asProgram = "ZONEFOLD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestCheckOfManyRecordsTakesLittleMemory checks 100,000 Records in a program of its own, which may take 500 MB.
func TestCheckOfManyRecordsTakesLittleMemory(t *testing.T) {
	var input bytes.Buffer
	input.WriteString("apiVersion: kubi.zone/v1alpha1\nkind: Zone\nmetadata: {name: z}\n" +
		"spec: {domainName: example.org., delegations: [{records: [{pattern: '*'}]}]}\n")
	for i := range 100_000 {
		fmt.Fprintf(&input, "---\napiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata:\n  name: www-%d\n"+
			"spec:\n  domainName: www-%d.example.org.\n  type: A\n  rdata: 192.0.2.1\n", i, i)
	}
	program := exec.CommandContext(t.Context(), os.Args[0], "check", "-f", "-", "--fail-on=error")
	program.Env, program.Stdin = append(os.Environ(), asProgram+"=1"), &input
	said, err := program.CombinedOutput()
	if err != nil || !bytes.Contains(said, []byte("checked 100001 objects\n")) {
		t.Fatalf("check: %v: %.500s", err, said)
	}
	if got := memoryOf(t, program); got > 500e6 {
		t.Errorf("check took %d MB", got/1e6)
	}
}

// memoryOf returns how much memory a program that has ended has had at most, in octets.
func memoryOf(t *testing.T, program *exec.Cmd) int64 {
	usage, ok := program.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("the system does not tell what a program used")
	}
	return usage.Maxrss << 10
}

// TestImportOfAMillionRecordsTakesLittleMemory imports a master file in a program of its own, which may take 300 MB.
func TestImportOfAMillionRecordsTakesLittleMemory(t *testing.T) {
	const count = 1_000_000
	text, into := io.Pipe()
	go func() {
		out := bufio.NewWriter(into)
		fmt.Fprint(out, "$TTL 3600\n@ SOA ns.example.net. hostmaster 1 7200 900 1209600 300\n NS ns.example.net.\n")
		for i := range count {
			fmt.Fprintf(out, "host-%d.dept-%d A 10.%d.%d.%d\n", i, i%997, i>>16&255, i>>8&255, i&255)
		}
		into.CloseWithError(out.Flush())
	}()
	var said bytes.Buffer
	program := exec.CommandContext(t.Context(), os.Args[0], "import", "file", "-", "--origin", "example.org")
	program.Env, program.Stdin, program.Stderr = append(os.Environ(), asProgram+"=1"), text, &said
	if err := program.Run(); err != nil || !strings.Contains(said.String(), "wrote 1000002 objects for 1000001 of them") {
		t.Fatalf("import: %v: %.500s", err, said.String())
	}
	if got := memoryOf(t, program); got > 300e6 {
		t.Errorf("import took %d MB", got/1e6)
	}
}
