package kubizone

import (
	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/inspect"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
)

// Resources are the kinds of this dialect that can be inspected.
func Resources(i *delivery.Inspection) []inspect.Resource {
	group := v1alpha1.GroupVersion.Group
	return []inspect.Resource{
		{Group: group, Plural: "zones", ID: dialect.ZoneID, Inspection: i},
		{Group: group, Plural: "records", ID: dialect.RecordID, Inspection: i},
	}
}
