package testcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// KubernetesVersion is the release of every Kubernetes component, as hack/cluster/k8s/go.mod pins it.
const KubernetesVersion = "v1.36.3"

// pauseVersion changes whenever hack/cluster/pause does.
const pauseVersion = "1"

// EtcdVersion is the release of etcd that is built, as hack/cluster/etcd/go.mod pins it.
const EtcdVersion = "v3.7.3"

// A component is one program of the control plane or of a node.
type component struct {
	name    string // of the program, and of its file in the cache
	pkg     string // the Go package that builds it
	module  string // the folder of the pinned tool module, from the repository's root
	version string // names the cache folder, so that another release never meets an old file
	built   string // the file name that "go build -o folder/" chooses
	node    bool   // needed for a node only
}

// components is everything that can run. A new component is one row here and one tool line in its module.
func components() []component {
	rows := []component{{name: "etcd", pkg: "go.etcd.io/etcd/server/v3", module: "hack/cluster/etcd", version: "etcd-" +
		EtcdVersion, built: "server"}}
	for _, name := range []string{apiServerName, controllerManagerName, kubectlName, schedulerName, kubeletName,
		kubeProxyName} {
		rows = append(rows, component{
			name: name, pkg: "k8s.io/kubernetes/cmd/" + name, module: "hack/cluster/k8s",
			version: "kubernetes-" + KubernetesVersion, built: name,
			node: name == schedulerName || name == kubeletName || name == kubeProxyName,
		})
	}
	return append(rows, component{
		name: pauseName, pkg: "./hack/cluster/pause", module: ".", version: pauseName + "-" + pauseVersion, built: pauseName,
		node: true,
	})
}

// path is where the component's program is kept.
func (c component) path(cache string) string {
	return filepath.Join(cache, c.version, runtime.GOOS+"-"+runtime.GOARCH, c.name)
}

// ldflags strips the program and tells Kubernetes its version, which otherwise says v0.0.0-master and makes kubectl
// warn of skew.
func (c component) ldflags() string {
	flags := []string{"-s", "-w"}
	if version, isKubernetes := strings.CutPrefix(c.version, "kubernetes-"); isKubernetes {
		number := strings.Split(strings.TrimPrefix(version, "v"), ".")
		for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
			flags = append(flags,
				"-X", pkg+".gitVersion="+version, "-X", pkg+".gitMajor="+number[0], "-X", pkg+".gitMinor="+number[1],
				"-X", pkg+".gitTreeState=clean")
		}
	}
	return strings.Join(flags, " ")
}

// programs maps each component's name to the program to run; a component that is not built is absent.
func programs() (map[string]string, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, c := range components() {
		if file := c.path(cache); isProgram(file) {
			found[c.name] = file
		}
	}
	return found, nil
}

// Missing lists the components of a control plane that [Build] would compile.
func Missing() ([]string, error) { return missingNames(false) }

func missingNames(node bool) ([]string, error) {
	missing, err := missingComponents(node)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range missing {
		names = append(names, c.name)
	}
	return names, nil
}

// missingComponents lists what is not built yet of a control plane and, if asked, of a node.
func missingComponents(node bool) ([]component, error) {
	found, err := programs()
	if err != nil {
		return nil, err
	}
	var missing []component
	for _, c := range components() {
		if found[c.name] == "" && (node || !c.node) {
			missing = append(missing, c)
		}
	}
	return missing, nil
}

// KubectlDir is the folder to put on PATH for the kubectl of the cluster's release. It exists once [Build] has run.
func KubectlDir() (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	for _, c := range components() {
		if c.name == kubectlName {
			return filepath.Dir(c.path(cache)), nil
		}
	}
	return "", errors.New("the component table has no kubectl")
}

func isProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the user's cache folder (set HOME or XDG_CACHE_HOME): %w", err)
	}
	return filepath.Join(dir, "zonefold"), nil
}
