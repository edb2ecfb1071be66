//go:build !js

package core_test

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const noMapOrder = "the order of a map changes from run to run; keep a slice, or sort the keys once"

// TestCoreNeverRangesOverAMap needs types, hence the source of the standard library, hence a native run.
func TestCoreNeverRangesOverAMap(t *testing.T) {
	c := newChecker(readModule(t))
	for room := range c.sources {
		if room != "core" && !strings.HasPrefix(room, "core/") {
			continue
		}
		_, err := c.Import(moduleName + "/" + room)
		require.NoError(t, err, room)
	}
	for _, v := range c.bad {
		t.Error(v)
	}
}

// A checker type-checks rooms from their parsed source and notes every range over a map.
type checker struct {
	sources map[string][]source
	std     types.Importer
	done    map[string]*types.Package
	bad     []violation
}

func newChecker(sources []source) *checker {
	c := &checker{
		sources: map[string][]source{},
		std:     importer.ForCompiler(token.NewFileSet(), "source", nil),
		done:    map[string]*types.Package{},
	}
	for _, s := range sources {
		if forThisTarget(s) {
			c.sources[s.room] = append(c.sources[s.room], s)
		}
	}
	return c
}

// forThisTarget leaves out what only another target compiles, or a name would be there twice.
func forThisTarget(s source) bool {
	file := s.fset.Position(s.file.Pos()).Filename
	if file == "" || strings.Contains(file, "snippet") {
		return true
	}
	match, err := build.Default.MatchFile(filepath.Split(file))
	return match || err != nil
}

// Import makes a checker the importer of the packages that it checks, so that a room is checked after those it uses.
func (c *checker) Import(p string) (*types.Package, error) {
	room, ours := strings.CutPrefix(p, moduleName+"/")
	if !ours {
		return c.std.Import(p)
	}
	if c.done[p] == nil {
		pkg, err := c.check(p, c.sources[room])
		if err != nil {
			return nil, err
		}
		c.done[p] = pkg
	}
	return c.done[p], nil
}

func (c *checker) check(p string, sources []source) (*types.Package, error) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	var files []*ast.File
	fset := token.NewFileSet()
	for _, s := range sources {
		files, fset = append(files, s.file), s.fset
	}
	conf := types.Config{Importer: c}
	pkg, err := conf.Check(p, fset, files, info)
	for _, s := range sources {
		c.bad = append(c.bad, mapRanges(s, info)...)
	}
	return pkg, err
}

// mapRanges reports the ranges in one file over something that is, or by its constraint could be, a map.
func mapRanges(s source, info *types.Info) []violation {
	var bad []violation
	ast.Inspect(s.file, func(n ast.Node) bool {
		if r, ok := n.(*ast.RangeStmt); ok && mayBeMap(info.TypeOf(r.X)) {
			bad = append(bad, s.broken(n, "range over a map", noMapOrder))
		}
		return true
	})
	return bad
}

// mayBeMap is true of an unknown type as well: what cannot be checked has not passed.
func mayBeMap(t types.Type) bool {
	if t == nil {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Interface:
		return slices.ContainsFunc(slices.Collect(u.EmbeddedTypes()), mayBeMap)
	case *types.Union:
		return slices.ContainsFunc(slices.Collect(u.Terms()), func(t *types.Term) bool { return mayBeMap(t.Type()) })
	}
	return false
}

func TestTheMapCheckSeesMaps(t *testing.T) {
	cases := []struct {
		claim, text string
		want        int
	}{
		{"a map", `func f(m map[int]int) { for range m {} }`, 1},
		{"a named map", `type M map[string]bool; func f(m M) { for k := range m { _ = k } }`, 1},
		{"a map in a struct", `type S struct{ m map[int]int }; func f(s *S) { for _, v := range s.m { _ = v } }`, 1},
		{"a map from another package", `import "net/url"; func f(v url.Values) { for range v {} }`, 1},
		{"a constrained map", `func f[M ~map[int]int](m M) { for range m {} }`, 1},
		{"a slice", `func f(s []int) { for range s {} }`, 0},
		{"a number", `func f() { for range 3 {} }`, 0},
		{"reading a map", `func f(m map[int]int) int { return m[1] }`, 0},
	}
	for _, k := range cases {
		t.Run(k.claim, func(t *testing.T) {
			c := newChecker([]source{parseSnippet(t, "core/lb", "package lb\n"+k.text+"\n")})
			_, err := c.Import("minilb/core/lb")
			require.NoError(t, err)
			assert.Len(t, c.bad, k.want)
		})
	}
}
