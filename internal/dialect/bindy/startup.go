package bindy

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
)

// Uses reports whether a server reads a file of its ConfigMap when it starts: those of the other role are there, too,
// and rndc's.
func (s *Server) Uses(file string) bool {
	switch file {
	case bind9.FileMain:
		return s.refs.NamedConf == ""
	case s.optionsKey():
		return s.refs.NamedConfOptions == ""
	}
	return false
}

// optionsKey is the entry of the ConfigMap that the server has as named.conf.options.
func (s *Server) optionsKey() string {
	if s.SharesConfig() && s.Role == v1beta1.RoleSecondary {
		return fileSecondaryOptions
	}
	return bind9.FileOptions
}

// A UserFile is an entry of a ConfigMap of the user's that takes the place of a generated file.
type UserFile struct{ Field, ConfigMap, File string }

// Users are the user's files that the server reads in the place of generated ones.
func (s *Server) Users() []UserFile {
	all := []UserFile{
		{"namedConf", s.refs.NamedConf, bind9.FileMain},
		{"namedConfOptions", s.refs.NamedConfOptions, bind9.FileOptions},
		{"namedConfZones", s.refs.NamedConfZones, bind9.FileZones},
	}
	return slices.DeleteFunc(all, func(u UserFile) bool { return u.ConfigMap == "" })
}

// In finds the sum over the file among those of its ConfigMap, or says that the file is not there.
func (u UserFile) In(key types.NamespacedName, sums map[string]string) (string, *Trouble, error) {
	sum, ok := sums[u.File]
	if !ok {
		return "", &Trouble{v1beta1.ReasonConfigMapNotFound, Sentence(
			"The ConfigMap %s, which configMapRefs.%s names, has no entry %s; add it. The pods stay as they "+
				"are.", key, u.Field, u.File)}, nil
	}
	return sum, nil, nil
}
