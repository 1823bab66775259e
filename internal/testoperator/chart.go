package testoperator

import (
	"context"
	"fmt"
	"strings"

	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testcluster/images"
)

// InstallChart installs the chart as people do, with the dialect bindy and the images of package images, in a namespace
// in which Pod Security is enforced at its strictest, and waits until the operator is ready. The cluster has a node
// with these images.
func InstallChart(ctx context.Context, c *testcluster.Cluster) error {
	namespace :=
		fmt.Sprintf(
			`{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {pod-security.kubernetes.io/enforce: restricted}}}`,
			Namespace)
	if _, err := c.RunKubectlInput(ctx, strings.NewReader(namespace), "apply", "-f", "-"); err != nil {
		return err
	}
	repository, tag, _ := strings.Cut(images.Operator, ":")
	_, err := Helm(ctx, "upgrade", "--install", "zonefold", "charts/zonefold", "-n", Namespace, "--kubeconfig",
		c.Kubeconfig(),
		"--take-ownership", "--force-conflicts", // of definitions that a test has applied before
		"--set", "admission.enabled=false", // controllers are right without it; it has tests of its own
		"--set", "dialects.bindy=true,image.repository="+repository+",image.tag="+tag,
		"--set", "bindy.bind9Image="+images.BIND+",bindy.bindcarImage="+images.Bindcar+
			",bindy.admission.images={zonefold/,internetsystemsconsortium/,ghcr.io/firestoned/}")
	if err != nil {
		return fmt.Errorf("installing the chart: %w", err)
	}
	_, err = c.RunKubectl(ctx, "rollout", "status", "-n", Namespace, "deployment/zonefold-operator", "--timeout=2m")
	return err
}

// Template renders templates of the chart with values, as of --set, into manifests.
func Template(ctx context.Context, values string, templates ...string) (string, error) {
	args := []string{"template", "zonefold", "charts/zonefold", "-n", Namespace, "--set", values,
		"--api-versions", "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy"} // the test clusters have it
	for _, t := range templates {
		args = append(args, "-s", "templates/"+t)
	}
	out, err := Helm(ctx, args...)
	if err != nil {
		return "", fmt.Errorf("rendering %v of the chart: %w", templates, err)
	}
	return out, nil
}
