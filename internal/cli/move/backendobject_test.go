package move

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhereFilesHaveTheSecretOfABackend(t *testing.T) {
	const secret = "{apiVersion: v1, kind: Secret, metadata: {name: key, namespace: dns}, stringData: {tsig: s}}\n"
	const other = "{apiVersion: v1, kind: ConfigMap, metadata: {name: key, namespace: dns}, data: {tsig: no base64}}\n"
	for _, c := range []struct{ name, text string }{
		{"it is a document", other + "---\n" + secret},
		{"it is an item of a list", "apiVersion: v1\nkind: List\nitems:\n- " + other + "- " + secret},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
			file := filepath.Join(folder, "objects.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(folder, link); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{file, folder, link} {
				f := BackendFlags{Files: []string{path}}
				if got, err := f.secretInFiles(t.Context(), "dns", "key"); err != nil || string(got["tsig"]) != "s" {
					t.Errorf("at %s there is %q: %v", path, got, err)
				}
			}
		})
	}
}
