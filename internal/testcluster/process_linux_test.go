package testcluster

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// childRole makes this test program start a component and wait to be killed.
const childRole = "ZONEFOLD_TESTCLUSTER_CHILD"

func holdAChild() {
	p, err := start(launch{name: "sleeper", dir: os.Getenv(childRole), args: []string{"sleep", "600"}})
	if err != nil {
		panic(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(p); err != nil {
		panic(err)
	}
	<-p.exited
}

func TestComponentsDieWithAKilledProgram(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var p process
	if err := json.Unmarshal(line, &p); err != nil {
		t.Fatal(err)
	}
	if !p.alive() {
		t.Fatalf("process %d does not run", p.Pid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := until(t.Context(), func() bool { return !p.alive() }); err != nil {
		t.Error(err)
	}
}

func TestAReusedProcessIDIsNotOurs(t *testing.T) {
	mine := process{Name: "somebody", Pid: os.Getpid(), Started: "1"}
	if mine.alive() {
		t.Error("a process with another start time counts as ours")
	}
	if err := mine.kill(t.Context()); err != nil { // must not send a signal: this is the test itself
		t.Error(err)
	}
}

func TestPortTakenIsToldFromOtherEnds(t *testing.T) {
	for tail, want := range map[string]bool{
		"listen tcp 127.0.0.1:4: bind: address already in use": true,
		"unknown flag": false,
	} {
		if got := portTaken(&endedError{name: "x", tail: tail}); got != want {
			t.Errorf("%q: %v, want %v", tail, got, want)
		}
	}
}
