package e2e_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// auditLog is where the API server writes down what the operator writes. TestMain can hand nothing to the tests that it
// runs.
var auditLog string

// auditPolicy has it write down every write of the operator but those to its lease.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: Metadata
  users: ["system:serviceaccount:` + testoperator.Namespace + `:` + testoperator.ServiceAccount + `"]
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

// A write is one of the operator.
type write struct {
	Verb      string `json:"verb"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	At time.Time `json:"stageTimestamp"`
}

func (w write) String() string {
	o := w.ObjectRef
	return fmt.Sprintf("%s %s %s/%s/%s (%d)", w.Verb, o.Resource, o.Namespace, o.Name, o.Subresource,
		w.ResponseStatus.Code)
}

// audit is what has been read of the log so far: all tests read it again and again, and it grows with each of them.
var audit struct {
	mu     sync.Mutex
	offset int64
	writes []write
}

// readAudit returns all writes that the log has by now.
func readAudit() ([]write, error) {
	audit.mu.Lock()
	defer audit.mu.Unlock()
	file, err := os.Open(auditLog)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for lines := bufio.NewReader(io.NewSectionReader(file, audit.offset, math.MaxInt64-audit.offset)); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil { // the last line is being written
			break
		}
		audit.offset += int64(len(line))
		var w write
		if json.Unmarshal(line, &w) == nil {
			audit.writes = append(audit.writes, w)
		}
	}
	return audit.writes, nil
}

// writes are those that concern this test: its namespaces, and objects without one that bear its word.
func (s *site) writes() []write {
	s.Helper()
	all, err := readAudit()
	if err != nil {
		s.Fatal(err)
	}
	var out []write
	for _, w := range all {
		if s.isOurs(w.ObjectRef.Namespace) || w.ObjectRef.Namespace == "" && s.isOurs(w.ObjectRef.Name) {
			out = append(out, w)
		}
	}
	return out
}

// quiet waits until the operator has written nothing for a while, and returns how often it has written by then.
func (s *site) quiet(pause time.Duration) int {
	s.Helper()
	last, since := len(s.writes()), time.Now()
	s.eventually("the operator comes to rest", func() string {
		if now := len(s.writes()); now != last {
			last, since = now, time.Now()
		}
		if left := pause - time.Since(since); left > 0 {
			return fmt.Sprintf("it has to write nothing for %s more", left)
		}
		return ""
	})
	return last
}
