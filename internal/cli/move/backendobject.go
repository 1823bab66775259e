package move

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// find returns a Backend, and who has its Secret: the files if there are any, else the cluster.
func (f *BackendFlags) find(ctx context.Context, env command.Env, name string) (*zonefold.Backend, Vault, error) {
	if len(f.Files) > 0 {
		return f.inFiles(env, name)
	}
	c, _, err := f.Cluster.Connect(env)
	if err != nil {
		return nil, nil, err
	}
	var b zonefold.Backend
	backends := c.Zonefold("backends")
	if err := backends.Of(backends.Get(), "").Name(name).Do(ctx).Into(&b); err != nil {
		return nil, nil, fmt.Errorf("finding the Backend %s: %w", name, err)
	}
	secrets, err := f.Vault(env)
	return &b, secrets, err
}

// Vault returns who has the Secrets: the files if there are any, else the cluster.
func (f *BackendFlags) Vault(env command.Env) (Vault, error) {
	if len(f.Files)+len(f.Built) > 0 {
		return f.secretInFiles, nil
	}
	secrets, err := f.secrets(env)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, namespace, name string) (map[string][]byte, error) {
		var s corev1.Secret
		if err := secrets.Get().Namespace(namespace).Resource("secrets").Name(name).Do(ctx).Into(&s); err != nil {
			return nil, fmt.Errorf("reading the Secret %s/%s: %w", namespace, name, err)
		}
		return s.Data, nil
	}, nil
}

// secrets returns a client for Secrets.
func (f *BackendFlags) secrets(env command.Env) (rest.Interface, error) {
	config, _, err := f.Cluster.Config(env)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	config.APIPath, config.GroupVersion = "/api", &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return client, nil
}

// inFiles finds a Backend and Secrets in files. A Secret without a namespace is one of any.
func (f *BackendFlags) inFiles(env command.Env, name string) (*zonefold.Backend, Vault, error) {
	in, err := manifest.Read(manifest.Options{Paths: f.Files, Stdin: env.Stdin, Namespace: "default"})
	if err != nil {
		return nil, nil, err
	}
	if err := command.Complain(env, in); err != nil {
		return nil, nil, err
	}
	f.Stdin = in.Stdin
	var found *zonefold.Backend
	for _, o := range in.Objects {
		switch {
		case o.Kind != manifest.Backend || o.Name != name:
		case o.Backend == nil:
			return nil, nil, fmt.Errorf("the Backend %s at %s cannot be read: %s", name, o.Place(), o.Fault)
		default:
			found = o.Backend
		}
	}
	for _, p := range in.Problems {
		if p.Reason == manifest.UnknownField && p.Object.Kind == manifest.Backend && p.Object.Name == name {
			fmt.Fprintf(env.Stderr, "%s: %s\n", p.Place, plain.Line(p.Message))
		}
	}
	if found == nil {
		return nil, nil, fmt.Errorf("the files have no Backend %s", name)
	}
	return found, f.secretInFiles, nil
}

// secretInFiles is the vault of files.
func (f *BackendFlags) secretInFiles(_ context.Context, namespace, name string) (map[string][]byte, error) {
	for _, t := range f.Built {
		if s := secretIn(t.Text, namespace, name); s != nil {
			return s, nil
		}
	}
	for _, path := range f.Files {
		if path == "-" {
			if s := secretIn(f.Stdin, namespace, name); s != nil {
				return s, nil
			}
			continue
		}
		s, err := secretBelow(path, namespace, name)
		if s != nil || err != nil {
			return s, err
		}
	}
	return nil, fmt.Errorf("the files have no Secret %s/%s", namespace, name)
}

// secretBelow looks for a Secret in a file, or in a folder and what is below it; nil if it is not there.
func secretBelow(path, namespace, name string) (map[string][]byte, error) {
	files, err := manifest.Files(path)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if found := secretIn(text, namespace, name); found != nil {
			return found, nil
		}
	}
	return nil, nil //nolint:nilnil // it is not there
}

// secretIn looks for a Secret in YAML, also in lists. Documents that are none have been told of already.
func secretIn(text []byte, namespace, name string) map[string][]byte {
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		doc, err := docs.Read()
		if err != nil {
			return nil
		}
		var list struct {
			Items []json.RawMessage `json:"items"`
		}
		if yaml.Unmarshal(doc, &list) != nil {
			continue
		}
		for _, object := range append(list.Items, doc) {
			if data := secretOf(object, namespace, name); data != nil {
				return data
			}
		}
	}
}

// secretOf returns what an object has if it is a Secret of that name.
func secretOf(object []byte, namespace, name string) map[string][]byte {
	var s corev1.Secret
	if yaml.Unmarshal(object, &s) != nil || s.Kind != "Secret" || s.Name != name ||
		s.Namespace != "" && s.Namespace != namespace {
		return nil
	}
	data := map[string][]byte{}
	for key, value := range s.Data {
		data[key] = value
	}
	for key, value := range s.StringData {
		data[key] = []byte(value)
	}
	return data
}
