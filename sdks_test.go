package zonefold_test

import (
	"maps"
	"path"
	"slices"
	"testing"
)

// TestSDKsStayWhereServicesAreReached follows imports from the other commands: the SDKs of services are large, and only
// the operator, dnshook and zonefold, which imports zones from services, use them.
func TestSDKsStayWhereServicesAreReached(t *testing.T) {
	sdks := []string{"github.com/aws", "github.com/cloudflare", "google.golang.org/api", "cloud.google.com"}
	imported := map[string][]string{}
	for _, file := range goFiles(t) {
		if !file.isTest {
			folder := path.Join(module, path.Dir(file.path))
			imported[folder] = append(imported[folder], file.imports()...)
		}
	}
	found := func(command string) (chain string) {
		from := map[string]string{module + "/cmd/" + command: ""}
		for queue := slices.Collect(maps.Keys(from)); len(queue) > 0; queue = queue[1:] {
			for _, next := range imported[queue[0]] {
				if slices.ContainsFunc(sdks, func(sdk string) bool { return imports(next, sdk) }) {
					return next + ", through " + queue[0]
				}
				if _, seen := from[next]; !seen {
					from[next] = queue[0]
					queue = append(queue, next)
				}
			}
		}
		return ""
	}
	for _, command := range []string{"bindcar"} {
		if chain := found(command); chain != "" {
			t.Errorf("cmd/%s imports %s: SDKs are for commands that reach services", command, chain)
		}
	}
	for _, command := range []string{"operator", "dnshook", "zonefold"} {
		if found(command) == "" {
			t.Errorf("cmd/%s has no SDK: this test looks for the wrong ones", command)
		}
	}
}
