package process

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/nameserver"
)

// Whoever asks for a table signs as this user.
const (
	userOfTable   = "AKIADYNAMODB00000001"
	secretOfTable = "secret/of+dynamodb"
	tableOfTests  = "external-dns" // external-dns' default
)

// dynoxide is the npm package of a server that behaves as DynamoDB does, and was compared with it. It knows neither
// external-dns nor zonefold. It looks at no signature.
const dynoxide, versionOfDynoxide = "@dynoxide/linux-", "1.2.1"

// A table is one in DynamoDB.
type table struct {
	*testing.T
	url string
}

// startTable starts a server with a table as external-dns' documentation has one made.
func startTable(t *testing.T) *table {
	t.Helper()
	program, err := dynoxideProgram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	port, release, err := nameserver.ClaimPort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	ctx, cancel := context.WithCancel(context.Background())
	var log bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "--port", fmt.Sprint(port))
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // says that it was told to end
		if t.Failed() {
			t.Logf("the log of the table's server:\n%s", &log)
		}
	})
	d := &table{T: t, url: fmt.Sprintf("http://127.0.0.1:%d", port)}
	eventually(t, "the server of the table", func() string {
		answer, err := http.Get(d.url)
		if err != nil {
			return err.Error()
		}
		_ = answer.Body.Close()
		return ""
	})
	d.aws("create-table", "--attribute-definitions", "AttributeName=k,AttributeType=S", "--key-schema",
		"AttributeName=k,KeyType=HASH", "--billing-mode", "PAY_PER_REQUEST")
	return d
}

// dynoxideProgram returns the path of the server. npm compares what it brings with the checksum of the registry.
func dynoxideProgram(ctx context.Context) (string, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "zonefold", "dynoxide-"+versionOfDynoxide)
	program := filepath.Join(dir, "node_modules", dynoxide+arch, "dynoxide")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", dir,
		dynoxide+arch+"@"+versionOfDynoxide)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("installing a server of tables with npm: %w\n%s", err, out)
	}
	return program, nil
}

// aws asks as Amazon's own command does.
func (d *table) aws(command string, more ...string) []byte {
	d.Helper()
	args := append([]string{"dynamodb", command, "--table-name", tableOfTests, "--endpoint-url", d.url, "--region",
		"eu-west-1", "--output", "json"}, more...)
	cmd := exec.CommandContext(d.Context(), "aws", args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		d.Fatalf("aws %s: %v\n%s", strings.Join(args, " "), err, &said)
	}
	return out
}

// items counts what the table has.
func (d *table) items() int {
	d.Helper()
	var all struct{ Count int }
	if err := json.Unmarshal(d.aws("scan", "--select", "COUNT"), &all); err != nil {
		d.Fatal(err)
	}
	return all.Count
}
