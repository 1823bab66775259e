package charts_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestEveryValueIsDescribed walks values.yaml and the schema together: both have the same values, and nothing else is
// let in.
func TestEveryValueIsDescribed(t *testing.T) {
	c := load(t)
	var schema map[string]any
	if err := yaml.Unmarshal(c.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	compare(t, "values", schema, c.Values)
}

// compare looks at one object of the schema, and at its default.
func compare(t *testing.T, at string, schema, value map[string]any) {
	t.Helper()
	if schema["additionalProperties"] != false {
		t.Errorf("%s: the schema lets unknown values in", at)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name := range value {
		if properties[name] == nil {
			t.Errorf("%s.%s is in values.yaml and not in values.schema.json", at, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[name].(map[string]any)
		if text, _ := property["description"].(string); !strings.HasSuffix(text, ".") {
			t.Errorf("%s.%s: %q is not a sentence that describes it", at, name, text)
		}
		byDefault, there := value[name]
		if !there && at+"."+name != "values.global" && at+"."+name != "values.resources.claims" {
			t.Errorf("%s.%s is in values.schema.json and not in values.yaml", at, name)
		}
		if _, nested := property["properties"]; nested {
			below, _ := byDefault.(map[string]any)
			compare(t, at+"."+name, property, below)
		}
	}
}

func TestWrongValuesAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ values, want string }{
		"no dialect is on": {`dialects: {kubizone: false}`,
			"at '/dialects/kubizone': value must be true"},
		"a dialect does not exist": {`dialects: {bind: true}`,
			"at '/dialects': additional properties 'bind' not allowed"},
		"a dialect is on in words": {`dialects: {bindy: "yes"}`,
			"at '/dialects/bindy': got string, want boolean"},
		"a value does not exist": {`replicaCount: 3`,
			"additional properties 'replicaCount' not allowed"},
		"a nested value does not exist": {`dns: {service: {kind: LoadBalancer}}`,
			"at '/dns/service': additional properties 'kind' not allowed"},
		"the number of replicas is negative": {`replicas: -1`, "at '/replicas': minimum: got -1, want 0"},
		"the number of replicas is a word":   {`replicas: two`, "at '/replicas': got string, want integer"},
		"the type of the Service does not exist": {`dns: {service: {type: External}}`,
			"at '/dns/service/type': value must be one of 'ClusterIP'"},
		"the digest is a tag": {`image: {digest: v1}`,
			"at '/image/digest': 'v1' does not match pattern"},
		"the repository has a tag": {`image: {repository: "example.org/operator:v1"}`,
			"at '/image/repository'"},
		"the pull policy does not exist": {`image: {pullPolicy: Sometimes}`, "at '/image/pullPolicy'"},
		"a pull Secret is a word": {`image: {pullSecrets: [registry]}`,
			"at '/image/pullSecrets/0': got string, want object"},
		"a delay has no unit": {`homelab: {retryBaseDelay: "5"}`, "at '/homelab/retryBaseDelay'"},
		"BIND's image has a tag": {`bindy: {bind9Image: "zonefold/bind9:9.18"}`,
			"at '/bindy/bind9Image'"},
		"the sidecar's image has none": {`bindy: {bindcarImage: zonefold/bindcar}`,
			"at '/bindy/bindcarImage'"},
		"the start of an image ends its quotes": {`bindy: {admission: {images: ['a"']}}`,
			"at '/bindy/admission/images/0'"},
		"a review may take a minute": {`admission: {timeoutSeconds: 60}`,
			"at '/admission/timeoutSeconds': maximum: got 60, want 5"},
		"a namespace is no name": {`bindy: {namespace: "a,b"}`, "at '/bindy/namespace'"},
		"a namespace of credentials would be two flags": {`credentialsNamespaces: ["a --verbose"]`,
			"at '/credentialsNamespaces/0'"},
		"a namespace of credentials is given twice": {`credentialsNamespaces: [a, a]`, "at '/credentialsNamespaces'"},
		"a flag is no flag":                         {`extraArgs: [verbose]`, "at '/extraArgs/0'"},
		"a variable has no name": {`extraEnv: [{value: "1"}]`,
			"at '/extraEnv/0': missing property 'name'"},
		"the budget is neither a number nor a percentage": {`podDisruptionBudget: {maxUnavailable: all}`,
			"at '/podDisruptionBudget/maxUnavailable'"},
		"the interval has no unit": {`metrics: {serviceMonitor: {interval: "30"}}`,
			"at '/metrics/serviceMonitor/interval'"},
		"a host of the console has a port": {`console: {hosts: ["console.example.org:443"]}`,
			"at '/console/hosts/0'"},
		"what the console holds has no unit": {`console: {objects: "32"}`, "at '/console/objects'"},
		"nobody fits into the console":       {`console: {people: 0}`, "at '/console/people': minimum: got 0, want 1"},
		"nobody vouches for the names of clients": {`admission: {clientCA: {names: [api]}}`,
			"at '/admission/clientCA/configMap': minLength: got 0, want 1"},
		"a label is a number": {`podLabels: {a: 1}`,
			"at '/podLabels/a': got number, want string"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := render(t, c.values)
			if err == nil {
				t.Fatalf("%s is let in", c.values)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s is refused with %q, which does not say %q", c.values, err, c.want)
			}
		})
	}
}

// TestGroupsOfValuesStay takes each group of values away, as null does.
func TestGroupsOfValuesStay(t *testing.T) {
	var schema map[string]any
	if err := yaml.Unmarshal(load(t).Schema, &schema); err != nil {
		t.Fatal(err)
	}
	var look func(schema map[string]any, before, after string)
	look = func(schema map[string]any, before, after string) {
		properties, _ := schema["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			property, _ := properties[name].(map[string]any)
			if _, nested := property["properties"]; !nested || name == "resources" { // which Pods need not have
				continue
			}
			values := before + name + ": null" + after
			if _, err := render(t, values); err == nil || !strings.Contains(err.Error(), "missing property '"+name+"'") {
				t.Errorf("%s is answered %v", values, err)
			}
			look(property, before+name+": {", "}"+after)
		}
	}
	look(schema, "", "")
}

func TestAnotherChartMayHaveThisOneInIt(t *testing.T) {
	mustRender(t, `global: {imageRegistry: example.org}`)
}
