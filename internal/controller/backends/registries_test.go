package backends

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

func TestRegistries(t *testing.T) {
	raw := strings.Repeat("k", 32)
	secrets := func(_, name string) (*corev1.Secret, error) {
		if data, ok := map[string]string{"key": raw, "short": "secret"}[name]; ok {
			return &corev1.Secret{Data: map[string][]byte{"aes": []byte(data)}}, nil
		}
		return nil, errors.New("not found")
	}
	for _, c := range []struct{ name, spec, owners, writer, trouble string }{
		{"none", `{}`, "", "", ""},
		{"of others alone", `{registries: [{}, {prefix: x-}]}`, "", "", ""},
		{"of an owner whose place is taken", `{registries: [{owner: prod}, {owner: dev, suffix: -x}]}`, "prod dev", "", ""},
		{"that is written", `{registries: [{owner: prod}, {owner: dev, write: true}]}`, "prod dev", "dev", ""},
		{"that is encrypted", `{registries: [{owner: prod, write: true, encryptionKeyRef: {name: key}}]}`, "prod", "prod",
			""},
		{"without its key", `{registries: [{encryptionKeyRef: {name: nothing}}]}`, "", "", "SecretNotFound"},
		{"with a key that is none", `{registries: [{encryptionKeyRef: {name: short}}]}`, "", "", "InvalidSpec"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var spec v1alpha1.BackendSpec
			if err := yaml.Unmarshal([]byte(c.spec), &spec); err != nil {
				t.Fatal(err)
			}
			r, trouble := resolver{namespace: "system", secrets: secrets}.registries(&spec)
			switch {
			case c.trouble != "":
				if trouble == nil || trouble.Reason != c.trouble || r != nil || strings.Contains(trouble.Message, "secret\"") {
					t.Errorf("%+v, %+v; want %s", r, trouble, c.trouble)
				}
				return
			case trouble != nil:
				t.Fatal(trouble.Message)
			case len(spec.Registries) == 0:
				if r != nil {
					t.Errorf("%+v", r)
				}
				return
			}
			written := r.Writes != nil
			if got := strings.Join(r.Owners, " "); got != c.owners || r.Writer != c.writer || written != (c.writer != "") {
				t.Errorf("%+v, want the owners %q and the writer %q", r, c.owners, c.writer)
			}
			for i, s := range spec.Registries {
				f := r.Formats[i]
				if f.Prefix != s.Prefix || f.Suffix != s.Suffix || (s.EncryptionKeyRef != nil) != (string(f.Key) == raw) {
					t.Errorf("entry %d is %+v", i, f)
				}
			}
		})
	}
}
