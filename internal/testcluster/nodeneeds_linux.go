package testcluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// containerdName is the program and the Debian package.
const containerdName = "containerd"

// nodeNeeds says what a node needs and this machine, or this user, lacks, and how to get it.
func nodeNeeds(user int) error {
	if user != 0 {
		return errors.New("a node needs root, for namespaces, mounts and containers; run this again as root")
	}
	var missing []string
	for _, n := range []struct{ program, pkg string }{
		{containerdName, "containerd"}, {"ctr", "containerd"}, {"crun", "crun"}, {"nft", "nftables"}, {"ip", "iproute2"},
		{"nsenter", "util-linux"}, {"mount", "mount"},
	} {
		if !onPath(n.program) {
			missing = append(missing, fmt.Sprintf("%s (Debian package %s)", n.program, n.pkg))
		}
	}
	if _, err := networkPlugins(); err != nil {
		missing = append(missing, err.Error())
	}
	if len(missing) > 0 {
		return fmt.Errorf(
			"a node needs what this machine does not have: %s; on Debian, this installs all: go run ./hack/prerequisites",
			strings.Join(missing, ", "))
	}
	return nil
}

// networkPlugins is the folder of the CNI plugins: Debian's, or the one that other distributions use.
func networkPlugins() (string, error) {
	for _, dir := range []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"} {
		found := 0
		for _, plugin := range []string{"ptp", "host-local", "loopback"} {
			if isProgram(filepath.Join(dir, plugin)) {
				found++
			}
		}
		if found == 3 {
			return dir, nil
		}
	}
	return "", errors.New("the CNI plugins ptp, host-local and loopback (Debian package containernetworking-plugins)")
}

func onPath(program string) bool {
	for _, dir := range filepath.SplitList(searchPath()) {
		if isProgram(filepath.Join(dir, program)) {
			return true
		}
	}
	return false
}
