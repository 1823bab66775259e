package console

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// pictureFolder has the pictures of pages that docs/console.md shows. UPDATE_PICTURES=1 makes them anew.
const pictureFolder = "../../docs/console"

// pictures compares six pages with what people are shown of them.
func (s *site) pictures(b *browser, base string) {
	for _, p := range []struct{ name, scheme, path, text string }{
		{"zones", "light", "/", "b.example."},
		{"zone", "light", "/zone?" + ofZone("a"), "1 to 5 of 5"},
		{"explain", "dark", "/explain?name=www.a.example.&type=A", "192.0.2.1"},
		{"delegation", "light", "/delegation", "guests-of-b"},
		{"servers", "dark", "/servers", "observed"},
		{"record", "light", "/edit?namespace=a&object=www-of-a", "Show what it would do"},
	} {
		b.view(p.scheme, pictureWidth)
		b.do(chromedp.Navigate(base + p.path))
		b.await("the page "+p.name, p.text)
		b.compare(p.name)
	}
}

// How much of a picture may be otherwise: serials, ports and times are, and letters are drawn otherwise by other
// versions of fonts. Squares are compared by their mean brightness, in 1/255.
const (
	pictureWidth  = 1200
	square        = 20
	otherBy       = 32
	otherSquares  = 0.06 // of all
	wantedSquares = 30   // that are no background, lest a blank page pass for one
)

// compare compares the page with its picture.
func (b *browser) compare(name string) {
	b.t.Helper()
	now, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	path := filepath.Join(pictureFolder, name+".png")
	if os.Getenv("UPDATE_PICTURES") != "" {
		if err := os.WriteFile(path, now, 0o644); err != nil {
			b.t.Fatal(err)
		}
		return
	}
	was, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatalf("%v; UPDATE_PICTURES=1 makes it", err)
	}
	if other := difference(b.t, was, now); other > otherSquares {
		kept := filepath.Join(b.t.ArtifactDir(), name+".png")
		_ = os.WriteFile(kept, now, 0o600) // which the failure is about anyway
		b.t.Errorf("%.0f%% of the page %s looks otherwise than %s: look at it, and have UPDATE_PICTURES=1 make it anew if "+
			"it is right", 100*other, name, path)
	}
}

// difference returns which part of the squares of two pictures is otherwise, of those in which there is something; 1 if
// they are of different sizes, or show next to nothing.
func difference(t *testing.T, was, now []byte) float64 {
	t.Helper()
	a, b := squares(t, was), squares(t, now)
	if len(a) != len(b) {
		return 1
	}
	other, written := 0, 0
	for i := range a {
		if far(a[i], a[len(a)-1]) || far(b[i], b[len(b)-1]) {
			written++
		}
		if far(a[i], b[i]) {
			other++
		}
	}
	if written < wantedSquares {
		return 1
	}
	return float64(other) / float64(len(a))
}

func far(a, b int) bool { return a-b > otherBy || b-a > otherBy }

// squares returns the mean brightness of the squares of a picture, row by row.
func squares(t *testing.T, text []byte) []int {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	all := picture.Bounds()
	var out []int
	for y := all.Min.Y; y < all.Max.Y; y += square {
		for x := all.Min.X; x < all.Max.X; x += square {
			out = append(out, brightness(picture, image.Rect(x, y, x+square, y+square).Intersect(all)))
		}
	}
	return out
}

func brightness(of image.Image, in image.Rectangle) int {
	sum := 0
	for y := in.Min.Y; y < in.Max.Y; y++ {
		for x := in.Min.X; x < in.Max.X; x++ {
			r, g, b, _ := of.At(x, y).RGBA()
			sum += int(r>>8+g>>8+b>>8) / 3
		}
	}
	return sum / (in.Dx() * in.Dy())
}
