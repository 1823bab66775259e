package bindy

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/zonefold/zonefold/internal/bind9"
)

// config is everything below /etc/bind: generated files, the user's in their places, and keys.
func (s *Server) config() *corev1.ProjectedVolumeSource {
	generated := []corev1.KeyToPath{{Key: bind9.FileClient, Path: bind9.FileClient}}
	var users []corev1.VolumeProjection
	for _, f := range []struct{ configMap, file, key string }{
		{s.refs.NamedConf, bind9.FileMain, bind9.FileMain},
		{s.refs.NamedConfOptions, bind9.FileOptions, s.optionsKey()},
		{s.refs.NamedConfZones, bind9.FileZones, ""},
	} {
		switch {
		case f.configMap != "":
			users = append(users, fromConfigMap(f.configMap, corev1.KeyToPath{Key: f.file, Path: f.file}))
		case f.key != "":
			generated = append(generated, corev1.KeyToPath{Key: f.key, Path: f.file})
		}
	}
	sources := append([]corev1.VolumeProjection{fromConfigMap(s.ConfigMap(), generated...)}, users...)
	return &corev1.ProjectedVolumeSource{DefaultMode: ptr.To[int32](0o440), Sources: append(sources,
		fromSecret(KeySecret(s.Instance.Name), bind9.FileKeys, bind9.FileControls, bind9.FileClientKey),
		fromSecret(s.TransferSecret(), bind9.FileTransferKeys, bind9.FileTransfer),
	)}
}

// TransferSecretAt is the name of the Secret that a pod of the server has its keys for zone transfers from. Until it is
// replaced, that may be the one of a cluster that the server was in.
func (s *Server) TransferSecretAt(p *corev1.Pod) string {
	for _, v := range p.Spec.Volumes {
		if v.Name != configVolume || v.Projected == nil {
			continue
		}
		for _, from := range v.Projected.Sources {
			if from.Secret != nil && slices.ContainsFunc(from.Secret.Items, func(i corev1.KeyToPath) bool {
				return i.Path == bind9.FileTransferKeys
			}) {
				return from.Secret.Name
			}
		}
	}
	return s.TransferSecret()
}

// accountToken is what a pod usually has of its ServiceAccount.
func accountToken() *corev1.ProjectedVolumeSource {
	return &corev1.ProjectedVolumeSource{DefaultMode: ptr.To[int32](0o440), Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: ptr.To[int64](3600)}},
		fromConfigMap("kube-root-ca.crt", corev1.KeyToPath{Key: "ca.crt", Path: "ca.crt"}),
	}}
}

func fromConfigMap(name string, items ...corev1.KeyToPath) corev1.VolumeProjection {
	return corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: items}}
}

// fromSecret has items of a Secret as files of the same name, in their folder.
func fromSecret(name string, files ...string) corev1.VolumeProjection {
	items := make([]corev1.KeyToPath, len(files))
	for i, f := range files {
		items[i] = corev1.KeyToPath{Key: path.Base(f), Path: f}
	}
	return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: items}}
}
