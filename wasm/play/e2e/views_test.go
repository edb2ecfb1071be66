package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"minilb/core/scenario"
)

// TestEveryViewFitsItsWindow looks at the page in both themes, wide and on a phone. With MINILB_SHOTS naming a folder it
// also leaves pictures there, for people to look at.
func TestEveryViewFitsItsWindow(t *testing.T) {
	p := openTab(t, 1280, 900)
	p.open("")
	twelve := "#v1;rate=600;backend=a:20;backend=b:20;backend=c:30;backend=d:40;backend=e:20;backend=f:25;backend=g:60;backend=h:20;backend=i:20;backend=j:30;backend=k:20;backend=l:80"
	incident := "#v1;algorithm=round_robin;algorithm=least_conn;backend=a:20;backend=b:20;backend=broken:2,errors:1"
	for _, v := range []view{
		{"first", "light", scenario.Presets[0].Link, 1280, 900, false},
		{"wide", "dark", scenario.Presets[0].Link + ";consecutive-5xx=5", 1920, 1080, false},
		{"keys", "light", "#v1;algorithm=ring_hash;algorithm=modulo_hash;backend=a:20;backend=b:20,crash_at:10,recover_at:20;backend=c:20;check-interval=1;retries=1", 1280, 900, false},
		{"light", "light", incident, 1400, 900, false},
		{"dark", "dark", "#v1", 1400, 900, false},
		{"ejected", "light", incident + ";consecutive-5xx=5;max-ejection-percent=34", 1100, 900, false},
		{"twelve", "dark", twelve, 1400, 900, false},
		{"phone", "light", incident, 360, 740, true},
		{"phone-dark", "dark", twelve, 360, 740, true},
		{"zoomed", "light", "#v1", 320, 256, false},
	} {
		p.look(v)
		p.follow(v.link)
		assert.LessOrEqual(t, p.number(`document.documentElement.scrollWidth`), float64(v.width), v.name)
		if folder := os.Getenv("MINILB_SHOTS"); folder != "" {
			first := run(p, chromedp.CaptureScreenshot())
			require.NoError(t, os.WriteFile(filepath.Join(folder, v.name+"-first.png"), first, 0o600))
			picture := run(p, chromedp.FullScreenshot(100))
			require.NoError(t, os.WriteFile(filepath.Join(folder, v.name+".png"), picture, 0o600))
		}
	}
	p.quiet()
}

// A view is a window, a theme and a scenario.
type view struct {
	name, scheme, link string
	width, height      int64
	phone              bool
}

func (p *tab) look(v view) {
	p.t.Helper()
	options := []chromedp.EmulateViewportOption{chromedp.EmulateScale(1)}
	if v.phone {
		options = []chromedp.EmulateViewportOption{chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch}
	}
	run(p, chromedp.EmulateViewport(v.width, v.height, options...))
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}},
	})
	require.NoError(p.t, err)
}
