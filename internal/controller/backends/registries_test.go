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

func TestTablesOfRegistries(t *testing.T) {
	secrets := func(namespace, name string) (*corev1.Secret, error) {
		if name == "nothing" {
			return nil, errors.New("not found")
		}
		data := map[string][]byte{"of": []byte(namespace + "/" + name)}
		if name == "empty" {
			data = nil
		}
		return &corev1.Secret{Data: data}, nil
	}
	for _, c := range []struct{ name, spec, want, trouble string }{
		{"none", `{registries: [{}]}`, "", ""},
		{"the surroundings'", `{rfc2136: {}, registries: [{dynamoDB: {}}]}`, "external-dns    ", ""},
		{"with all of it", `{registries: [{dynamoDB: {table: t, region: r, endpoint: http://e, secretRef: {name: s}}}]}`,
			"t r http://e  system/s", ""},
		{"beside Route 53", `{provider: {type: aws-route53, region: p, secretRef: {name: q},
			config: {stsEndpoint: http://sts, endpoint: http://route53}}, registries: [{}, {dynamoDB: {}}]}`,
			"external-dns p  http://sts system/q", ""},
		{"beside Route 53, of another account", `{provider: {type: aws-route53, region: p, secretRef: {name: q}},
			registries: [{dynamoDB: {region: r, secretRef: {name: s}}}]}`, "external-dns r   system/s", ""},
		{"beside another service", `{provider: {type: cloudflare-dns, secretRef: {name: q}}, registries: [{dynamoDB: {}}]}`,
			"external-dns    ", ""},
		{"without its Secret", `{registries: [{dynamoDB: {secretRef: {name: nothing}}}]}`, "", "SecretNotFound"},
		{"with an empty Secret", `{registries: [{dynamoDB: {secretRef: {name: empty}}}]}`, "", "SecretNotFound"},
		{"with a Secret of somebody else", `{registries: [{dynamoDB: {secretRef: {name: s, namespace: tenant}}}]}`, "",
			"SecretForbidden"},
	} {
		var spec v1alpha1.BackendSpec
		if err := yaml.Unmarshal([]byte(c.spec), &spec); err != nil {
			t.Fatal(err)
		}
		got, trouble := resolver{namespace: "system", secrets: secrets}.table(&spec, nil)
		text := ""
		if got != nil {
			text = strings.Join([]string{got.Name, got.Region, got.Options["endpoint"], got.Options["stsEndpoint"],
				string(got.Data["of"])}, " ")
		}
		if text != c.want || (trouble != nil) != (c.trouble != "") || trouble != nil && trouble.Reason != c.trouble {
			t.Errorf("%s: %q, %+v; want %q, %s", c.name, text, trouble, c.want, c.trouble)
		}
	}
}
