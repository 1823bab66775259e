package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
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
	usage, ok := program.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("the system does not tell what a program used")
	}
	if got := usage.Maxrss << 10; got > 500e6 {
		t.Errorf("check took %d MB", got/1e6)
	}
}
