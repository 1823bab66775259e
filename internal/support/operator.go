package support

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/version"
)

// A definition is what matters of a CustomResourceDefinition.
type definition struct {
	Name     string   `json:"name"`
	Versions []string `json:"versions"` // that are served
	Stored   []string `json:"stored"`
	Unready  []string `json:"unready,omitempty"` // conditions that are not True
}

// versions has those of the command, the API server and the definitions.
func (g *gatherer) versions(ctx context.Context) error {
	about := struct {
		Command     string        `json:"command"`
		APIServer   *version.Info `json:"apiServer"`
		Definitions []definition  `json:"definitions"`
	}{Command: g.Version}
	if err := g.get(ctx, "/version", &about.APIServer); err != nil {
		g.lacks("the version of the API server", err)
	}
	err := g.list(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", func(o map[string]any) error {
		text, err := json.Marshal(o)
		if err != nil {
			return fmt.Errorf("reading a CustomResourceDefinition: %w", err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := json.Unmarshal(text, &crd); err != nil {
			return fmt.Errorf("reading a CustomResourceDefinition: %w", err)
		}
		if slices.ContainsFunc(groups(), func(of group) bool {
			return of.name == crd.Spec.Group && (of.only == nil || slices.Contains(of.only, crd.Spec.Names.Plural))
		}) {
			about.Definitions = append(about.Definitions, definitionOf(&crd))
		}
		return nil
	})
	if err != nil {
		g.lacks("CustomResourceDefinitions", err)
	}
	return g.addJSON("versions.json", about)
}

func definitionOf(crd *apiextensionsv1.CustomResourceDefinition) definition {
	d := definition{Name: crd.Name, Stored: crd.Status.StoredVersions}
	for _, v := range crd.Spec.Versions {
		if v.Served {
			d.Versions = append(d.Versions, v.Name)
		}
	}
	for _, c := range crd.Status.Conditions {
		good := c.Type == apiextensionsv1.Established || c.Type == apiextensionsv1.NamesAccepted
		if good && c.Status != apiextensionsv1.ConditionTrue {
			d.Unready = append(d.Unready, string(c.Type))
		}
	}
	return d
}

// selector finds the operator's Deployment and Pods.
const selector = "app.kubernetes.io/name=zonefold-operator"

// A workload is what matters of the Deployment: its environment is that of the Pod, and may hold secrets.
type workload struct {
	Name   string                  `json:"name"`
	Image  string                  `json:"image"`
	Args   []string                `json:"args"`
	Status appsv1.DeploymentStatus `json:"status"`
}

// A pod is what matters of one.
type pod struct {
	Name     string           `json:"name"`
	Node     string           `json:"node"`
	Versions []string         `json:"images"` // as they were pulled
	Status   corev1.PodStatus `json:"status"`
}

// operator has its Deployment, its Lease, and of each of its Pods the logs and the metrics.
func (g *gatherer) operator(ctx context.Context) error {
	at := "/apis/apps/v1/namespaces/" + g.Operator + "/deployments"
	var deployments appsv1.DeploymentList
	if err := g.selected(ctx, at, &deployments); err != nil {
		g.lacks("Deployments of the operator in namespace "+g.Operator, err)
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		for j := range d.Spec.Template.Spec.Containers {
			c := &d.Spec.Template.Spec.Containers[j]
			about := workload{d.Name, c.Image, c.Args, d.Status}
			if err := g.addJSON("operator/deployment-"+d.Name+"-"+c.Name+".json", about); err != nil {
				return err
			}
		}
	}
	g.lease(ctx)
	var pods corev1.PodList
	if err := g.selected(ctx, "/api/v1/namespaces/"+g.Operator+"/pods", &pods); err != nil {
		g.lacks("Pods of the operator in namespace "+g.Operator+", their logs and metrics", err)
	} else if len(pods.Items) == 0 {
		g.lacks("Pods of the operator in namespace "+g.Operator, errors.New("there are none"))
	}
	for i := range pods.Items {
		if err := g.pod(ctx, &pods.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// lease has who leads.
func (g *gatherer) lease(ctx context.Context) {
	at := "/apis/coordination.k8s.io/v1/namespaces/" + g.Operator + "/leases/zonefold-operator"
	var lease map[string]any
	if err := g.get(ctx, at, &lease); err != nil {
		g.lacks("the Lease of the operator", err)
		return
	}
	g.redact.clean(lease)
	if err := g.addJSON("operator/lease.json", lease); err != nil {
		g.lacks("the Lease of the operator", err)
	}
}

// selected reads a list of objects of the operator.
func (g *gatherer) selected(ctx context.Context, path string, into any) error {
	text, err := g.read(ctx, path, maxPart, "labelSelector", selector)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}

// pod has the status of a Pod, the logs of its containers and its metrics.
func (g *gatherer) pod(ctx context.Context, p *corev1.Pod) error {
	about := pod{Name: p.Name, Node: p.Spec.NodeName, Status: p.Status}
	for _, c := range p.Status.ContainerStatuses {
		about.Versions = append(about.Versions, c.ImageID)
	}
	if err := g.addJSON("operator/"+p.Name+"/pod.json", about); err != nil {
		return err
	}
	at := "/api/v1/namespaces/" + p.Namespace + "/pods/" + p.Name
	for _, c := range p.Spec.Containers {
		g.log(ctx, p.Name, at+"/log", c.Name, false)
		if slices.ContainsFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
			return s.Name == c.Name && s.RestartCount > 0
		}) {
			g.log(ctx, p.Name, at+"/log", c.Name, true)
		}
	}
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			if port.Name == "metrics" {
				g.metrics(ctx, p.Name, fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy/metrics", p.Namespace, p.Name,
					port.ContainerPort))
			}
		}
	}
	return nil
}

// lines is how many of the last lines of a log are asked for.
const lines = 20000

// log has the end of a log.
func (g *gatherer) log(ctx context.Context, pod, path, container string, previous bool) {
	name := "operator/" + pod + "/" + container + ".log"
	if previous {
		name = "operator/" + pod + "/" + container + "-before.log"
	}
	text, err := g.read(ctx, path, min(maxPart, g.room), "container", container, "tailLines", strconv.Itoa(lines),
		"previous", strconv.FormatBool(previous))
	if len(text) > 0 {
		err = errors.Join(err, g.add(name, userinfo.ReplaceAllString(string(text), "://"+leftOut+"@")))
	}
	if err != nil {
		g.lacks(name, err)
	}
}

// metrics has those of a Pod, as the API server fetches them.
func (g *gatherer) metrics(ctx context.Context, pod, path string) {
	name := "operator/" + pod + "/metrics.txt"
	text, err := g.read(ctx, path, min(maxPart, g.room))
	if err == nil {
		err = g.add(name, string(text))
	}
	if err != nil {
		g.lacks(name, err)
	}
}
