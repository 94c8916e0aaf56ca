\echo Use "CREATE EXTENSION bvhindex" to load this file. \quit

-- ---------------------------------------------------------------------------
-- the type
-- ---------------------------------------------------------------------------

CREATE TYPE box3d;

CREATE FUNCTION box3d_in(cstring) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_in'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_in(cstring) IS
  'text input of box3d';

CREATE FUNCTION box3d_out(box3d) RETURNS cstring
  AS 'MODULE_PATHNAME', 'box3d_out'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_out(box3d) IS
  'text output of box3d';

CREATE FUNCTION box3d_recv(internal) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_recv'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_recv(internal) IS
  'binary input of box3d: six float8, two opposite corners';

CREATE FUNCTION box3d_send(box3d) RETURNS bytea
  AS 'MODULE_PATHNAME', 'box3d_send'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_send(box3d) IS
  'binary output of box3d: six float8, lower then upper corner';

CREATE FUNCTION box3d_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_typanalyze'
  LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_typanalyze(internal) IS
  'ANALYZE of a box3d column: keeps a sample of the boxes';

CREATE TYPE box3d (
  INPUT = box3d_in,
  OUTPUT = box3d_out,
  RECEIVE = box3d_recv,
  SEND = box3d_send,
  ANALYZE = box3d_typanalyze,
  INTERNALLENGTH = 48,
  ALIGNMENT = double,
  STORAGE = plain
);
COMMENT ON TYPE box3d IS
  'axis-aligned box in three dimensions, closed on all sides: (x1,y1,z1),(x2,y2,z2)';

-- ---------------------------------------------------------------------------
-- constructors and parts
-- ---------------------------------------------------------------------------

CREATE FUNCTION box3d(x1 float8, y1 float8, z1 float8, x2 float8, y2 float8, z2 float8) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_make'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d(x1 float8, y1 float8, z1 float8, x2 float8, y2 float8, z2 float8) IS
  'box of two opposite corners';

CREATE FUNCTION box3d(x float8, y float8, z float8) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_point'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d(x float8, y float8, z float8) IS
  'a point, as a box without size';

CREATE FUNCTION box3d(corner1 float8[], corner2 float8[]) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_from_arrays'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d(corner1 float8[], corner2 float8[]) IS
  'box of two opposite corners, three numbers each';

CREATE FUNCTION box3d(corners float8[]) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_from_array'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d(corners float8[]) IS
  'box of six numbers, two opposite corners; or a point of three';

CREATE FUNCTION box3d_to_array(box3d) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'box3d_to_array'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_to_array(box3d) IS
  'six numbers: lower corner, then upper corner';

CREATE FUNCTION box3d_xmin(box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_xmin'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_xmin(box3d) IS
  'least x of the box';

CREATE FUNCTION box3d_xmax(box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_xmax'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_xmax(box3d) IS
  'greatest x of the box';

CREATE FUNCTION box3d_ymin(box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_ymin'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_ymin(box3d) IS
  'least y of the box';

CREATE FUNCTION box3d_ymax(box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_ymax'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_ymax(box3d) IS
  'greatest y of the box';

CREATE FUNCTION box3d_zmin(box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_zmin'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_zmin(box3d) IS
  'least z of the box';

CREATE FUNCTION box3d_zmax(box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_zmax'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_zmax(box3d) IS
  'greatest z of the box';

CREATE FUNCTION box3d_lower(box3d) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'box3d_lower'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_lower(box3d) IS
  'lower corner: three numbers';

CREATE FUNCTION box3d_upper(box3d) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'box3d_upper'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_upper(box3d) IS
  'upper corner: three numbers';

CREATE FUNCTION box3d_center(box3d) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'box3d_center'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_center(box3d) IS
  'middle: three numbers; 0 on an axis without end on both sides';

CREATE FUNCTION box3d_size(box3d) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'box3d_size'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_size(box3d) IS
  'lengths of the sides along x, y and z';

CREATE FUNCTION box3d_is_point(box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_is_point'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_is_point(box3d) IS
  'are all sides zero?';

CREATE CAST (box3d AS float8[]) WITH FUNCTION box3d_to_array(box3d);
COMMENT ON CAST (box3d AS float8[]) IS 'six numbers: lower corner, then upper corner';

CREATE CAST (float8[] AS box3d) WITH FUNCTION box3d(float8[]);
COMMENT ON CAST (float8[] AS box3d) IS 'box of six numbers, two opposite corners; or a point of three';

-- ---------------------------------------------------------------------------
-- measures
-- ---------------------------------------------------------------------------

CREATE FUNCTION box3d_volume(box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_volume'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_volume(box3d) IS
  'product of the sides; 0 when one is zero, even if another is infinite';

CREATE FUNCTION box3d_surface_area(box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_surface_area'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_surface_area(box3d) IS
  'area of the six faces';

CREATE FUNCTION box3d_distance_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'box3d_distance_support'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_distance_support(internal) IS
  'planner support of distances';

CREATE FUNCTION box3d_distance(a box3d, b box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_distance'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  SUPPORT box3d_distance_support;
COMMENT ON FUNCTION box3d_distance(a box3d, b box3d) IS
  'smallest Euclidean distance between the boxes; 0 when they overlap or touch';

CREATE FUNCTION box3d_taxicab(a box3d, b box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_taxicab'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  SUPPORT box3d_distance_support;
COMMENT ON FUNCTION box3d_taxicab(a box3d, b box3d) IS
  'sum of the gaps between the boxes along the axes; 0 when they overlap or touch';

CREATE FUNCTION box3d_chebyshev(a box3d, b box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_chebyshev'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  SUPPORT box3d_distance_support;
COMMENT ON FUNCTION box3d_chebyshev(a box3d, b box3d) IS
  'longest of the gaps between the boxes along the axes; 0 when they overlap or touch';

CREATE FUNCTION box3d_max_distance(a box3d, b box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_max_distance'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_max_distance(a box3d, b box3d) IS
  'largest Euclidean distance between a point of one box and a point of the other';

CREATE FUNCTION box3d_penetration(a box3d, b box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_penetration'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_penetration(a box3d, b box3d) IS
  'length of the smallest move along one axis that parts the boxes; 0 when they are apart or touch';

CREATE FUNCTION box3d_overlap_volume(a box3d, b box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_overlap_volume'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_overlap_volume(a box3d, b box3d) IS
  'volume of what both boxes contain';

-- ---------------------------------------------------------------------------
-- boxes from boxes
-- ---------------------------------------------------------------------------

CREATE FUNCTION box3d_union(a box3d, b box3d) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_union'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_union(a box3d, b box3d) IS
  'smallest box that contains both';

CREATE FUNCTION box3d_intersection(a box3d, b box3d) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_intersection'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_intersection(a box3d, b box3d) IS
  'what both boxes contain; NULL when they are apart';

CREATE FUNCTION box3d_expand(b box3d, r float8) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_expand'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_expand(b box3d, r float8) IS
  'each side moved outward by r, inward if negative; NULL when nothing is left';

CREATE FUNCTION box3d_expand(b box3d, rx float8, ry float8, rz float8) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_expand_axes'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_expand(b box3d, rx float8, ry float8, rz float8) IS
  'each side moved outward by an amount for its axis; NULL when nothing is left';

CREATE FUNCTION box3d_translate(b box3d, dx float8, dy float8, dz float8) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_translate'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_translate(b box3d, dx float8, dy float8, dz float8) IS
  'the box moved';

CREATE FUNCTION box3d_transform(b box3d, matrix float8[]) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_transform'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_transform(b box3d, matrix float8[]) IS
  'box around the box after an affine map: 12 numbers by rows (the fourth of a row translates), or 16 with a last row 0 0 0 1';

CREATE FUNCTION box3d_reach(b box3d, r float8) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_reach'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_reach(b box3d, r float8) IS
  'box that overlaps every box within distance r, rounded outward; NULL for negative r';

CREATE FUNCTION box3d_bound(b box3d, r float8) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_bound'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_bound(b box3d, r float8) IS
  'box3d_reach, but everything for NaN: what the planner makes of <-> <= r';

CREATE FUNCTION box3d_fatten(fat box3d, tight box3d, margin float8, displacement float8[] DEFAULT NULL) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_fatten'
  LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION box3d_fatten(fat box3d, tight box3d, margin float8, displacement float8[]) IS
  'fat while it contains tight; else tight grown by the margin, and by four times the displacement ahead';

CREATE FUNCTION bvh_fatten() RETURNS trigger
  AS 'MODULE_PATHNAME', 'bvh_fatten'
  LANGUAGE C;
COMMENT ON FUNCTION bvh_fatten() IS
  'trigger BEFORE INSERT OR UPDATE FOR EACH ROW with arguments (fat column, tight column, margin [, displacement column]): box3d_fatten() into the fat column';

CREATE FUNCTION box3d_hilbert(b box3d, world box3d) RETURNS bigint
  AS 'MODULE_PATHNAME', 'box3d_hilbert'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_hilbert(b box3d, world box3d) IS
  'place of the center along a Hilbert curve through the world, 63 bits';

CREATE AGGREGATE box3d_extent(box3d) (
  SFUNC = box3d_union,
  STYPE = box3d,
  COMBINEFUNC = box3d_union,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE box3d_extent(box3d) IS
  'smallest box that contains all boxes; NULL when there is none';

-- ---------------------------------------------------------------------------
-- estimators
-- ---------------------------------------------------------------------------

CREATE FUNCTION box3d_sel(internal, oid, internal, integer) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_sel'
  LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_sel(internal, oid, internal, integer) IS
  'restriction selectivity of box3d operators';

CREATE FUNCTION box3d_joinsel(internal, oid, internal, smallint, internal) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_joinsel'
  LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_joinsel(internal, oid, internal, smallint, internal) IS
  'join selectivity of box3d operators';

CREATE FUNCTION box3d_dwithin_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'box3d_dwithin_support'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_dwithin_support(internal) IS
  'planner support of box3d_dwithin';

CREATE FUNCTION box3d_dwithin(a box3d, b box3d, r float8) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_dwithin'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  SUPPORT box3d_dwithin_support;
COMMENT ON FUNCTION box3d_dwithin(a box3d, b box3d, r float8) IS
  'is a <-> b at most r? can use an index';

-- ---------------------------------------------------------------------------
-- operators
-- ---------------------------------------------------------------------------

CREATE FUNCTION box3d_overlaps(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_overlaps'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_overlaps(a box3d, b box3d) IS
  'overlap, touching included?';

CREATE OPERATOR && (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_overlaps,
  COMMUTATOR = &&,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR && (box3d, box3d) IS 'overlap, touching included?';

CREATE FUNCTION box3d_overlaps_strictly(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_overlaps_strictly'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_overlaps_strictly(a box3d, b box3d) IS
  'overlap with their insides, so that touching does not count?';

CREATE OPERATOR &&+ (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_overlaps_strictly,
  COMMUTATOR = &&+,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR &&+ (box3d, box3d) IS 'overlap with their insides, so that touching does not count?';

CREATE FUNCTION box3d_contains(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_contains'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_contains(a box3d, b box3d) IS
  'is b inside a, borders included?';

CREATE OPERATOR @> (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_contains,
  COMMUTATOR = <@,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR @> (box3d, box3d) IS 'is b inside a, borders included?';

CREATE FUNCTION box3d_contained_by(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_contained_by'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_contained_by(a box3d, b box3d) IS
  'is a inside b, borders included?';

CREATE OPERATOR <@ (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_contained_by,
  COMMUTATOR = @>,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR <@ (box3d, box3d) IS 'is a inside b, borders included?';

CREATE FUNCTION box3d_same(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_same'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_same(a box3d, b box3d) IS
  'same bounds?';

CREATE OPERATOR ~= (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_same,
  COMMUTATOR = ~=,
  RESTRICT = eqsel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR ~= (box3d, box3d) IS 'same bounds?';

CREATE FUNCTION box3d_left(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_left'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_left(a box3d, b box3d) IS
  'is a left of b (x: a ends before b starts)?';

CREATE OPERATOR << (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_left,
  COMMUTATOR = >>,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR << (box3d, box3d) IS 'is a left of b (x: a ends before b starts)?';

CREATE FUNCTION box3d_overleft(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_overleft'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_overleft(a box3d, b box3d) IS
  'does a not extend beyond the end of b along x?';

CREATE OPERATOR &< (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_overleft,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR &< (box3d, box3d) IS 'does a not extend beyond the end of b along x?';

CREATE FUNCTION box3d_overright(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_overright'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_overright(a box3d, b box3d) IS
  'does a not start before b along x?';

CREATE OPERATOR &> (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_overright,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR &> (box3d, box3d) IS 'does a not start before b along x?';

CREATE FUNCTION box3d_right(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_right'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_right(a box3d, b box3d) IS
  'is a right of b (x: a starts after b ends)?';

CREATE OPERATOR >> (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_right,
  COMMUTATOR = <<,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR >> (box3d, box3d) IS 'is a right of b (x: a starts after b ends)?';

CREATE FUNCTION box3d_below(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_below'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_below(a box3d, b box3d) IS
  'is a below b (y: a ends before b starts)?';

CREATE OPERATOR <<| (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_below,
  COMMUTATOR = |>>,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR <<| (box3d, box3d) IS 'is a below b (y: a ends before b starts)?';

CREATE FUNCTION box3d_overbelow(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_overbelow'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_overbelow(a box3d, b box3d) IS
  'does a not extend beyond the end of b along y?';

CREATE OPERATOR &<| (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_overbelow,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR &<| (box3d, box3d) IS 'does a not extend beyond the end of b along y?';

CREATE FUNCTION box3d_overabove(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_overabove'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_overabove(a box3d, b box3d) IS
  'does a not start before b along y?';

CREATE OPERATOR |&> (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_overabove,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR |&> (box3d, box3d) IS 'does a not start before b along y?';

CREATE FUNCTION box3d_above(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_above'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_above(a box3d, b box3d) IS
  'is a above b (y: a starts after b ends)?';

CREATE OPERATOR |>> (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_above,
  COMMUTATOR = <<|,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR |>> (box3d, box3d) IS 'is a above b (y: a starts after b ends)?';

CREATE FUNCTION box3d_front(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_front'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_front(a box3d, b box3d) IS
  'is a in front of b (z: a ends before b starts)?';

CREATE OPERATOR <</ (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_front,
  COMMUTATOR = />>,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR <</ (box3d, box3d) IS 'is a in front of b (z: a ends before b starts)?';

CREATE FUNCTION box3d_overfront(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_overfront'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_overfront(a box3d, b box3d) IS
  'does a not extend beyond the end of b along z?';

CREATE OPERATOR &</ (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_overfront,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR &</ (box3d, box3d) IS 'does a not extend beyond the end of b along z?';

CREATE FUNCTION box3d_overback(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_overback'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_overback(a box3d, b box3d) IS
  'does a not start before b along z?';

CREATE OPERATOR /&> (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_overback,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR /&> (box3d, box3d) IS 'does a not start before b along z?';

CREATE FUNCTION box3d_back(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_back'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_back(a box3d, b box3d) IS
  'is a behind b (z: a starts after b ends)?';

CREATE OPERATOR />> (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_back,
  COMMUTATOR = <</,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR />> (box3d, box3d) IS 'is a behind b (z: a starts after b ends)?';

CREATE FUNCTION box3d_eq(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_eq'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_eq(a box3d, b box3d) IS
  'same bounds?';

CREATE OPERATOR = (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_eq,
  COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (box3d, box3d) IS 'same bounds?';

CREATE FUNCTION box3d_ne(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_ne'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_ne(a box3d, b box3d) IS
  'different bounds?';

CREATE OPERATOR <> (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_ne,
  COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (box3d, box3d) IS 'different bounds?';

CREATE FUNCTION box3d_lt(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_lt'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_lt(a box3d, b box3d) IS
  'does a sort before b (lower corner, then upper corner)?';

CREATE OPERATOR < (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_lt,
  COMMUTATOR = >, NEGATOR = >=,
  RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (box3d, box3d) IS 'does a sort before b (lower corner, then upper corner)?';

CREATE FUNCTION box3d_le(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_le'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_le(a box3d, b box3d) IS
  'does a sort before b or equal to it?';

CREATE OPERATOR <= (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_le,
  COMMUTATOR = >=, NEGATOR = >,
  RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (box3d, box3d) IS 'does a sort before b or equal to it?';

CREATE FUNCTION box3d_gt(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_gt'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_gt(a box3d, b box3d) IS
  'does a sort after b?';

CREATE OPERATOR > (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_gt,
  COMMUTATOR = <, NEGATOR = <=,
  RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (box3d, box3d) IS 'does a sort after b?';

CREATE FUNCTION box3d_ge(a box3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_ge'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_ge(a box3d, b box3d) IS
  'does a sort after b or equal to it?';

CREATE OPERATOR >= (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_ge,
  COMMUTATOR = <=, NEGATOR = <,
  RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (box3d, box3d) IS 'does a sort after b or equal to it?';

CREATE OPERATOR <-> (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_distance,
  COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (box3d, box3d) IS 'smallest Euclidean distance';

CREATE OPERATOR <#> (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_taxicab,
  COMMUTATOR = <#>
);
COMMENT ON OPERATOR <#> (box3d, box3d) IS 'smallest taxicab distance';

CREATE OPERATOR <=> (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_chebyshev,
  COMMUTATOR = <=>
);
COMMENT ON OPERATOR <=> (box3d, box3d) IS 'smallest Chebyshev distance';

CREATE OPERATOR + (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_union,
  COMMUTATOR = +
);
COMMENT ON OPERATOR + (box3d, box3d) IS 'smallest box that contains both';

CREATE OPERATOR * (
  LEFTARG = box3d, RIGHTARG = box3d, FUNCTION = box3d_intersection,
  COMMUTATOR = *
);
COMMENT ON OPERATOR * (box3d, box3d) IS 'what both boxes contain; NULL when they are apart';

-- ---------------------------------------------------------------------------
-- rays, segments, moving boxes
-- ---------------------------------------------------------------------------

CREATE TYPE ray3d;

CREATE FUNCTION ray3d_in(cstring) RETURNS ray3d
  AS 'MODULE_PATHNAME', 'ray3d_in'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_in(cstring) IS
  'text input of ray3d';

CREATE FUNCTION ray3d_out(ray3d) RETURNS cstring
  AS 'MODULE_PATHNAME', 'ray3d_out'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_out(ray3d) IS
  'text output of ray3d';

CREATE FUNCTION ray3d_recv(internal) RETURNS ray3d
  AS 'MODULE_PATHNAME', 'ray3d_recv'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_recv(internal) IS
  'binary input of ray3d: ten float8, two opposite corners, direction, tmax';

CREATE FUNCTION ray3d_send(ray3d) RETURNS bytea
  AS 'MODULE_PATHNAME', 'ray3d_send'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_send(ray3d) IS
  'binary output of ray3d: ten float8, lower corner, upper corner, direction, tmax';

CREATE TYPE ray3d (
  INPUT = ray3d_in,
  OUTPUT = ray3d_out,
  RECEIVE = ray3d_recv,
  SEND = ray3d_send,
  INTERNALLENGTH = 80,
  ALIGNMENT = double,
  STORAGE = plain
);
COMMENT ON TYPE ray3d IS
  'ray, segment, or box that moves along a line: start + t * direction, 0 <= t <= tmax; (ox,oy,oz),(dx,dy,dz),tmax';

CREATE FUNCTION ray3d(ox float8, oy float8, oz float8, dx float8, dy float8, dz float8, tmax float8 DEFAULT 'Infinity') RETURNS ray3d
  AS 'MODULE_PATHNAME', 'ray3d_make'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d(ox float8, oy float8, oz float8, dx float8, dy float8, dz float8, tmax float8) IS
  'ray from a point; times are in lengths of the direction';

CREATE FUNCTION ray3d_segment(ax float8, ay float8, az float8, bx float8, by float8, bz float8) RETURNS ray3d
  AS 'MODULE_PATHNAME', 'ray3d_segment'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_segment(ax float8, ay float8, az float8, bx float8, by float8, bz float8) IS
  'segment from a at time 0 to b at time 1';

CREATE FUNCTION ray3d_sweep(b box3d, dx float8, dy float8, dz float8) RETURNS ray3d
  AS 'MODULE_PATHNAME', 'ray3d_sweep'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_sweep(b box3d, dx float8, dy float8, dz float8) IS
  'box that moves so far from time 0 to time 1';

CREATE FUNCTION ray3d_box(ray3d) RETURNS box3d
  AS 'MODULE_PATHNAME', 'ray3d_box'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_box(ray3d) IS
  'what moves, where it starts; a point for a ray';

CREATE FUNCTION ray3d_origin(ray3d) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'ray3d_origin'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_origin(ray3d) IS
  'where the middle of it starts: three numbers';

CREATE FUNCTION ray3d_direction(ray3d) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'ray3d_direction'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_direction(ray3d) IS
  'how far it moves in a unit of time: three numbers';

CREATE FUNCTION ray3d_tmax(ray3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'ray3d_tmax'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_tmax(ray3d) IS
  'the time at which it ends';

CREATE FUNCTION ray3d_at(r ray3d, t float8) RETURNS box3d
  AS 'MODULE_PATHNAME', 'ray3d_at'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_at(r ray3d, t float8) IS
  'where it is at a time';

CREATE FUNCTION ray3d_bounds(ray3d) RETURNS box3d
  AS 'MODULE_PATHNAME', 'ray3d_bounds'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_bounds(ray3d) IS
  'box around all that it passes through, rounded outward';

CREATE FUNCTION ray3d_until(r ray3d, t float8) RETURNS ray3d
  AS 'MODULE_PATHNAME', 'ray3d_until'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_until(r ray3d, t float8) IS
  'ray that meets every box that r enters by the time t; NULL for a negative time';

CREATE FUNCTION ray3d_eq(a ray3d, b ray3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'ray3d_eq'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_eq(a ray3d, b ray3d) IS
  'same start, direction and end?';

CREATE OPERATOR = (
  LEFTARG = ray3d, RIGHTARG = ray3d, FUNCTION = ray3d_eq,
  COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (ray3d, ray3d) IS 'same start, direction and end?';

CREATE FUNCTION ray3d_ne(a ray3d, b ray3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'ray3d_ne'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_ne(a ray3d, b ray3d) IS
  'another start, direction or end?';

CREATE OPERATOR <> (
  LEFTARG = ray3d, RIGHTARG = ray3d, FUNCTION = ray3d_ne,
  COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (ray3d, ray3d) IS 'another start, direction or end?';

CREATE FUNCTION ray3d_hash(ray3d) RETURNS integer
  AS 'MODULE_PATHNAME', 'ray3d_hash'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_hash(ray3d) IS
  'hash of a ray';

CREATE FUNCTION ray3d_hash_extended(ray3d, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'ray3d_hash_extended'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_hash_extended(ray3d, bigint) IS
  'hash of a ray, with a seed';

CREATE OPERATOR CLASS ray3d_hash_ops DEFAULT FOR TYPE ray3d USING hash AS
  OPERATOR 1 = (ray3d, ray3d),
  FUNCTION 1 ray3d_hash(ray3d),
  FUNCTION 2 ray3d_hash_extended(ray3d, bigint);
COMMENT ON OPERATOR CLASS ray3d_hash_ops USING hash IS 'hashing of ray3d';
COMMENT ON OPERATOR FAMILY ray3d_hash_ops USING hash IS 'hashing of ray3d';

CREATE FUNCTION box3d_meets_ray(b box3d, r ray3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_meets_ray'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_meets_ray(b box3d, r ray3d) IS
  'does the ray meet the box by its end, touching included?';

CREATE FUNCTION ray3d_meets_box(r ray3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'ray3d_meets_box'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ray3d_meets_box(r ray3d, b box3d) IS
  'does the ray meet the box by its end, touching included?';

CREATE OPERATOR && (
  LEFTARG = box3d, RIGHTARG = ray3d, FUNCTION = box3d_meets_ray,
  COMMUTATOR = &&,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR && (box3d, ray3d) IS 'does the ray meet the box by its end, touching included?';

CREATE OPERATOR && (
  LEFTARG = ray3d, RIGHTARG = box3d, FUNCTION = ray3d_meets_box,
  COMMUTATOR = &&,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR && (ray3d, box3d) IS 'does the ray meet the box by its end, touching included?';

CREATE FUNCTION box3d_ray_entry(b box3d, r ray3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_ray_entry'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  SUPPORT box3d_distance_support;
COMMENT ON FUNCTION box3d_ray_entry(b box3d, r ray3d) IS
  'time at which the ray enters the box: 0 from inside, Infinity if never';

CREATE FUNCTION ray3d_box_entry(r ray3d, b box3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'ray3d_box_entry'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  SUPPORT box3d_distance_support;
COMMENT ON FUNCTION ray3d_box_entry(r ray3d, b box3d) IS
  'time at which the ray enters the box: 0 from inside, Infinity if never';

CREATE OPERATOR <-> (
  LEFTARG = box3d, RIGHTARG = ray3d, FUNCTION = box3d_ray_entry,
  COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (box3d, ray3d) IS 'time at which the ray enters the box';

CREATE OPERATOR <-> (
  LEFTARG = ray3d, RIGHTARG = box3d, FUNCTION = ray3d_box_entry,
  COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (ray3d, box3d) IS 'time at which the ray enters the box';

-- ---------------------------------------------------------------------------
-- spheres
-- ---------------------------------------------------------------------------

CREATE TYPE sphere3d;

CREATE FUNCTION sphere3d_in(cstring) RETURNS sphere3d
  AS 'MODULE_PATHNAME', 'sphere3d_in'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d_in(cstring) IS
  'text input of sphere3d';

CREATE FUNCTION sphere3d_out(sphere3d) RETURNS cstring
  AS 'MODULE_PATHNAME', 'sphere3d_out'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d_out(sphere3d) IS
  'text output of sphere3d';

CREATE FUNCTION sphere3d_recv(internal) RETURNS sphere3d
  AS 'MODULE_PATHNAME', 'sphere3d_recv'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d_recv(internal) IS
  'binary input of sphere3d: four float8, center and radius';

CREATE FUNCTION sphere3d_send(sphere3d) RETURNS bytea
  AS 'MODULE_PATHNAME', 'sphere3d_send'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d_send(sphere3d) IS
  'binary output of sphere3d: four float8, center and radius';

CREATE TYPE sphere3d (
  INPUT = sphere3d_in,
  OUTPUT = sphere3d_out,
  RECEIVE = sphere3d_recv,
  SEND = sphere3d_send,
  INTERNALLENGTH = 32,
  ALIGNMENT = double,
  STORAGE = plain
);
COMMENT ON TYPE sphere3d IS
  'all points within a distance of a point: <(x,y,z),r>';

CREATE FUNCTION sphere3d(x float8, y float8, z float8, r float8) RETURNS sphere3d
  AS 'MODULE_PATHNAME', 'sphere3d_make'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d(x float8, y float8, z float8, r float8) IS
  'sphere of a center and a radius';

CREATE FUNCTION sphere3d_center(sphere3d) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'sphere3d_center'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d_center(sphere3d) IS
  'center: three numbers';

CREATE FUNCTION sphere3d_radius(sphere3d) RETURNS float8
  AS 'MODULE_PATHNAME', 'sphere3d_radius'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d_radius(sphere3d) IS
  'radius';

CREATE FUNCTION sphere3d_bounds(sphere3d) RETURNS box3d
  AS 'MODULE_PATHNAME', 'sphere3d_bounds'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d_bounds(sphere3d) IS
  'box around the sphere, rounded outward';

CREATE FUNCTION sphere3d_eq(a sphere3d, b sphere3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'sphere3d_eq'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d_eq(a sphere3d, b sphere3d) IS
  'same center and radius?';

CREATE OPERATOR = (
  LEFTARG = sphere3d, RIGHTARG = sphere3d, FUNCTION = sphere3d_eq,
  COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (sphere3d, sphere3d) IS 'same center and radius?';

CREATE FUNCTION sphere3d_ne(a sphere3d, b sphere3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'sphere3d_ne'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d_ne(a sphere3d, b sphere3d) IS
  'different center and radius?';

CREATE OPERATOR <> (
  LEFTARG = sphere3d, RIGHTARG = sphere3d, FUNCTION = sphere3d_ne,
  COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (sphere3d, sphere3d) IS 'different center and radius?';

CREATE FUNCTION sphere3d_hash(sphere3d) RETURNS integer
  AS 'MODULE_PATHNAME', 'sphere3d_hash'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d_hash(sphere3d) IS
  'hash of a sphere3d';

CREATE FUNCTION sphere3d_hash_extended(sphere3d, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'sphere3d_hash_extended'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d_hash_extended(sphere3d, bigint) IS
  'hash of a sphere3d, with a seed';

CREATE OPERATOR CLASS sphere3d_hash_ops DEFAULT FOR TYPE sphere3d USING hash AS
  OPERATOR 1 = (sphere3d, sphere3d),
  FUNCTION 1 sphere3d_hash(sphere3d),
  FUNCTION 2 sphere3d_hash_extended(sphere3d, bigint);
COMMENT ON OPERATOR CLASS sphere3d_hash_ops USING hash IS 'hashing of sphere3d';
COMMENT ON OPERATOR FAMILY sphere3d_hash_ops USING hash IS 'hashing of sphere3d';

CREATE FUNCTION box3d_meets_sphere(b box3d, s sphere3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_meets_sphere'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_meets_sphere(b box3d, s sphere3d) IS
  'is a point of the box in the sphere, its surface included?';

CREATE FUNCTION sphere3d_meets_box(s sphere3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'sphere3d_meets_box'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d_meets_box(s sphere3d, b box3d) IS
  'is a point of the box in the sphere, its surface included?';

CREATE OPERATOR && (
  LEFTARG = box3d, RIGHTARG = sphere3d, FUNCTION = box3d_meets_sphere,
  COMMUTATOR = &&,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR && (box3d, sphere3d) IS 'is a point of the box in the sphere, its surface included?';

CREATE OPERATOR && (
  LEFTARG = sphere3d, RIGHTARG = box3d, FUNCTION = sphere3d_meets_box,
  COMMUTATOR = &&,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR && (sphere3d, box3d) IS 'is a point of the box in the sphere, its surface included?';

CREATE FUNCTION box3d_in_sphere(b box3d, s sphere3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_in_sphere'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_in_sphere(b box3d, s sphere3d) IS
  'is all of the box in the sphere, its surface included?';

CREATE FUNCTION sphere3d_contains_box(s sphere3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'sphere3d_contains_box'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sphere3d_contains_box(s sphere3d, b box3d) IS
  'is all of the box in the sphere, its surface included?';

CREATE OPERATOR <@ (
  LEFTARG = box3d, RIGHTARG = sphere3d, FUNCTION = box3d_in_sphere,
  COMMUTATOR = @>,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR <@ (box3d, sphere3d) IS 'is all of the box in the sphere, its surface included?';

CREATE OPERATOR @> (
  LEFTARG = sphere3d, RIGHTARG = box3d, FUNCTION = sphere3d_contains_box,
  COMMUTATOR = <@,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR @> (sphere3d, box3d) IS 'is all of the box in the sphere, its surface included?';

-- ---------------------------------------------------------------------------
-- half-spaces, such as a camera's view
-- ---------------------------------------------------------------------------

CREATE TYPE planes3d;

CREATE FUNCTION planes3d_in(cstring) RETURNS planes3d
  AS 'MODULE_PATHNAME', 'planes3d_in'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION planes3d_in(cstring) IS
  'text input of planes3d';

CREATE FUNCTION planes3d_out(planes3d) RETURNS cstring
  AS 'MODULE_PATHNAME', 'planes3d_out'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION planes3d_out(planes3d) IS
  'text output of planes3d';

CREATE FUNCTION planes3d_recv(internal) RETURNS planes3d
  AS 'MODULE_PATHNAME', 'planes3d_recv'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION planes3d_recv(internal) IS
  'binary input of planes3d: an int4, how many, then four float8 for each';

CREATE FUNCTION planes3d_send(planes3d) RETURNS bytea
  AS 'MODULE_PATHNAME', 'planes3d_send'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION planes3d_send(planes3d) IS
  'binary output of planes3d: an int4, how many, then four float8 for each';

CREATE TYPE planes3d (
  INPUT = planes3d_in,
  OUTPUT = planes3d_out,
  RECEIVE = planes3d_recv,
  SEND = planes3d_send,
  INTERNALLENGTH = VARIABLE,
  ALIGNMENT = double,
  STORAGE = plain
);
COMMENT ON TYPE planes3d IS
  'all points on the inner side of up to 32 planes, a*x + b*y + c*z <= d for each: {(a,b,c,d),...}';

CREATE FUNCTION planes3d(planes float8[]) RETURNS planes3d
  AS 'MODULE_PATHNAME', 'planes3d_from_array'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION planes3d(planes float8[]) IS
  'planes of four numbers a, b, c, d each: a*x + b*y + c*z <= d';

CREATE FUNCTION planes3d_to_array(planes3d) RETURNS float8[]
  AS 'MODULE_PATHNAME', 'planes3d_to_array'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION planes3d_to_array(planes3d) IS
  'four numbers for each plane';

CREATE FUNCTION planes3d_frustum(matrix float8[], row_major boolean DEFAULT false, zero_to_one boolean DEFAULT false) RETURNS planes3d
  AS 'MODULE_PATHNAME', 'planes3d_frustum'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION planes3d_frustum(matrix float8[], row_major boolean, zero_to_one boolean) IS
  'what a clip matrix shows: 16 numbers by columns, or by rows; depth from -w to w, or from 0 to w';

CREATE FUNCTION planes3d_eq(a planes3d, b planes3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'planes3d_eq'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION planes3d_eq(a planes3d, b planes3d) IS
  'same planes in the same order?';

CREATE OPERATOR = (
  LEFTARG = planes3d, RIGHTARG = planes3d, FUNCTION = planes3d_eq,
  COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (planes3d, planes3d) IS 'same planes in the same order?';

CREATE FUNCTION planes3d_ne(a planes3d, b planes3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'planes3d_ne'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION planes3d_ne(a planes3d, b planes3d) IS
  'different planes in the same order?';

CREATE OPERATOR <> (
  LEFTARG = planes3d, RIGHTARG = planes3d, FUNCTION = planes3d_ne,
  COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (planes3d, planes3d) IS 'different planes in the same order?';

CREATE FUNCTION planes3d_hash(planes3d) RETURNS integer
  AS 'MODULE_PATHNAME', 'planes3d_hash'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION planes3d_hash(planes3d) IS
  'hash of a planes3d';

CREATE FUNCTION planes3d_hash_extended(planes3d, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'planes3d_hash_extended'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION planes3d_hash_extended(planes3d, bigint) IS
  'hash of a planes3d, with a seed';

CREATE OPERATOR CLASS planes3d_hash_ops DEFAULT FOR TYPE planes3d USING hash AS
  OPERATOR 1 = (planes3d, planes3d),
  FUNCTION 1 planes3d_hash(planes3d),
  FUNCTION 2 planes3d_hash_extended(planes3d, bigint);
COMMENT ON OPERATOR CLASS planes3d_hash_ops USING hash IS 'hashing of planes3d';
COMMENT ON OPERATOR FAMILY planes3d_hash_ops USING hash IS 'hashing of planes3d';

CREATE FUNCTION box3d_meets_planes(b box3d, p planes3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_meets_planes'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_meets_planes(b box3d, p planes3d) IS
  'is the box not wholly outside of any plane?';

CREATE FUNCTION planes3d_meet_box(p planes3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'planes3d_meet_box'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION planes3d_meet_box(p planes3d, b box3d) IS
  'is the box not wholly outside of any plane?';

CREATE OPERATOR && (
  LEFTARG = box3d, RIGHTARG = planes3d, FUNCTION = box3d_meets_planes,
  COMMUTATOR = &&,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR && (box3d, planes3d) IS 'is the box not wholly outside of any plane?';

CREATE OPERATOR && (
  LEFTARG = planes3d, RIGHTARG = box3d, FUNCTION = planes3d_meet_box,
  COMMUTATOR = &&,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR && (planes3d, box3d) IS 'is the box not wholly outside of any plane?';

CREATE FUNCTION box3d_in_planes(b box3d, p planes3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_in_planes'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_in_planes(b box3d, p planes3d) IS
  'is the box wholly inside of all planes?';

CREATE FUNCTION planes3d_contain_box(p planes3d, b box3d) RETURNS boolean
  AS 'MODULE_PATHNAME', 'planes3d_contain_box'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION planes3d_contain_box(p planes3d, b box3d) IS
  'is the box wholly inside of all planes?';

CREATE OPERATOR <@ (
  LEFTARG = box3d, RIGHTARG = planes3d, FUNCTION = box3d_in_planes,
  COMMUTATOR = @>,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR <@ (box3d, planes3d) IS 'is the box wholly inside of all planes?';

CREATE OPERATOR @> (
  LEFTARG = planes3d, RIGHTARG = box3d, FUNCTION = planes3d_contain_box,
  COMMUTATOR = <@,
  RESTRICT = box3d_sel, JOIN = box3d_joinsel
);
COMMENT ON OPERATOR @> (planes3d, box3d) IS 'is the box wholly inside of all planes?';

-- ---------------------------------------------------------------------------
-- btree and hash: equality, sorting, grouping
-- ---------------------------------------------------------------------------

CREATE FUNCTION box3d_cmp(a box3d, b box3d) RETURNS integer
  AS 'MODULE_PATHNAME', 'box3d_cmp'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_cmp(a box3d, b box3d) IS
  'order of two boxes: -1, 0 or 1';

CREATE FUNCTION box3d_hash(box3d) RETURNS integer
  AS 'MODULE_PATHNAME', 'box3d_hash'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_hash(box3d) IS
  'hash of a box';

CREATE FUNCTION box3d_hash_extended(box3d, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'box3d_hash_extended'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_hash_extended(box3d, bigint) IS
  'hash of a box, with a seed';

CREATE OPERATOR CLASS box3d_btree_ops DEFAULT FOR TYPE box3d USING btree AS
  OPERATOR 1 < (box3d, box3d),
  OPERATOR 2 <= (box3d, box3d),
  OPERATOR 3 = (box3d, box3d),
  OPERATOR 4 >= (box3d, box3d),
  OPERATOR 5 > (box3d, box3d),
  FUNCTION 1 box3d_cmp(box3d, box3d);
COMMENT ON OPERATOR CLASS box3d_btree_ops USING btree IS
  'sorting of box3d, by lower corner and then upper corner';
COMMENT ON OPERATOR FAMILY box3d_btree_ops USING btree IS
  'sorting of box3d, by lower corner and then upper corner';

CREATE OPERATOR CLASS box3d_hash_ops DEFAULT FOR TYPE box3d USING hash AS
  OPERATOR 1 = (box3d, box3d),
  FUNCTION 1 box3d_hash(box3d),
  FUNCTION 2 box3d_hash_extended(box3d, bigint);
COMMENT ON OPERATOR CLASS box3d_hash_ops USING hash IS 'hashing of box3d';
COMMENT ON OPERATOR FAMILY box3d_hash_ops USING hash IS 'hashing of box3d';

-- ---------------------------------------------------------------------------
-- GiST: a bounding volume hierarchy
-- ---------------------------------------------------------------------------

CREATE FUNCTION box3d_gist_consistent(internal, box3d, smallint, oid, internal) RETURNS boolean
  AS 'MODULE_PATHNAME', 'box3d_gist_consistent'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_gist_consistent(internal, box3d, smallint, oid, internal) IS
  'GiST support: may a key match?';

CREATE FUNCTION box3d_gist_union(internal, internal) RETURNS box3d
  AS 'MODULE_PATHNAME', 'box3d_gist_union'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_gist_union(internal, internal) IS
  'GiST support: box around keys';

CREATE FUNCTION box3d_gist_penalty(internal, internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'box3d_gist_penalty'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_gist_penalty(internal, internal, internal) IS
  'GiST support: growth of the surface area';

CREATE FUNCTION box3d_gist_picksplit(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'box3d_gist_picksplit'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_gist_picksplit(internal, internal) IS
  'GiST support: binned SAH split of a page';

CREATE FUNCTION box3d_gist_same(box3d, box3d, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'box3d_gist_same'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_gist_same(box3d, box3d, internal) IS
  'GiST support: are keys equal?';

CREATE FUNCTION box3d_gist_distance(internal, box3d, smallint, oid, internal) RETURNS float8
  AS 'MODULE_PATHNAME', 'box3d_gist_distance'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_gist_distance(internal, box3d, smallint, oid, internal) IS
  'GiST support: distance of a key';

CREATE FUNCTION box3d_gist_sortsupport(internal) RETURNS void
  AS 'MODULE_PATHNAME', 'box3d_gist_sortsupport'
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION box3d_gist_sortsupport(internal) IS
  'GiST support: order of a bulk build, along a Hilbert curve';

CREATE OPERATOR CLASS box3d_ops DEFAULT FOR TYPE box3d USING gist AS
  OPERATOR 1 << (box3d, box3d),
  OPERATOR 2 &< (box3d, box3d),
  OPERATOR 3 && (box3d, box3d),
  OPERATOR 4 &> (box3d, box3d),
  OPERATOR 5 >> (box3d, box3d),
  OPERATOR 6 ~= (box3d, box3d),
  OPERATOR 7 @> (box3d, box3d),
  OPERATOR 8 <@ (box3d, box3d),
  OPERATOR 9 &<| (box3d, box3d),
  OPERATOR 10 <<| (box3d, box3d),
  OPERATOR 11 |>> (box3d, box3d),
  OPERATOR 12 |&> (box3d, box3d),
  OPERATOR 15 <-> (box3d, box3d) FOR ORDER BY pg_catalog.float_ops,
  OPERATOR 18 = (box3d, box3d),
  OPERATOR 31 <</ (box3d, box3d),
  OPERATOR 32 &</ (box3d, box3d),
  OPERATOR 33 /&> (box3d, box3d),
  OPERATOR 34 />> (box3d, box3d),
  OPERATOR 35 &&+ (box3d, box3d),
  OPERATOR 41 && (box3d, ray3d),
  OPERATOR 42 <-> (box3d, ray3d) FOR ORDER BY pg_catalog.float_ops,
  OPERATOR 43 && (box3d, sphere3d),
  OPERATOR 44 <@ (box3d, sphere3d),
  OPERATOR 45 && (box3d, planes3d),
  OPERATOR 46 <@ (box3d, planes3d),
  OPERATOR 47 <#> (box3d, box3d) FOR ORDER BY pg_catalog.float_ops,
  OPERATOR 48 <=> (box3d, box3d) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 box3d_gist_consistent(internal, box3d, smallint, oid, internal),
  FUNCTION 2 box3d_gist_union(internal, internal),
  FUNCTION 5 box3d_gist_penalty(internal, internal, internal),
  FUNCTION 6 box3d_gist_picksplit(internal, internal),
  FUNCTION 7 box3d_gist_same(box3d, box3d, internal),
  FUNCTION 8 box3d_gist_distance(internal, box3d, smallint, oid, internal),
  FUNCTION 11 box3d_gist_sortsupport(internal);
COMMENT ON OPERATOR CLASS box3d_ops USING gist IS
  'bounding volume hierarchy of box3d: all box operators and nearest neighbours';
COMMENT ON OPERATOR FAMILY box3d_ops USING gist IS
  'bounding volume hierarchy of box3d: all box operators and nearest neighbours';

-- ---------------------------------------------------------------------------
-- bvh: the same hierarchy, with scans and builds of its own
-- ---------------------------------------------------------------------------

CREATE FUNCTION bvhhandler(internal) RETURNS index_am_handler
  AS 'MODULE_PATHNAME', 'bvhhandler'
  LANGUAGE C STRICT;
COMMENT ON FUNCTION bvhhandler(internal) IS 'handler of the bvh access method';

CREATE ACCESS METHOD bvh TYPE INDEX HANDLER bvhhandler;
COMMENT ON ACCESS METHOD bvh IS
  'bounding volume hierarchy: GiST''s pages, packed builds and SIMD scans';

-- no function 11: only GiST itself can use it
CREATE OPERATOR CLASS box3d_ops DEFAULT FOR TYPE box3d USING bvh AS
  OPERATOR 1 << (box3d, box3d),
  OPERATOR 2 &< (box3d, box3d),
  OPERATOR 3 && (box3d, box3d),
  OPERATOR 4 &> (box3d, box3d),
  OPERATOR 5 >> (box3d, box3d),
  OPERATOR 6 ~= (box3d, box3d),
  OPERATOR 7 @> (box3d, box3d),
  OPERATOR 8 <@ (box3d, box3d),
  OPERATOR 9 &<| (box3d, box3d),
  OPERATOR 10 <<| (box3d, box3d),
  OPERATOR 11 |>> (box3d, box3d),
  OPERATOR 12 |&> (box3d, box3d),
  OPERATOR 15 <-> (box3d, box3d) FOR ORDER BY pg_catalog.float_ops,
  OPERATOR 18 = (box3d, box3d),
  OPERATOR 31 <</ (box3d, box3d),
  OPERATOR 32 &</ (box3d, box3d),
  OPERATOR 33 /&> (box3d, box3d),
  OPERATOR 34 />> (box3d, box3d),
  OPERATOR 35 &&+ (box3d, box3d),
  OPERATOR 41 && (box3d, ray3d),
  OPERATOR 42 <-> (box3d, ray3d) FOR ORDER BY pg_catalog.float_ops,
  OPERATOR 43 && (box3d, sphere3d),
  OPERATOR 44 <@ (box3d, sphere3d),
  OPERATOR 45 && (box3d, planes3d),
  OPERATOR 46 <@ (box3d, planes3d),
  OPERATOR 47 <#> (box3d, box3d) FOR ORDER BY pg_catalog.float_ops,
  OPERATOR 48 <=> (box3d, box3d) FOR ORDER BY pg_catalog.float_ops,
  FUNCTION 1 box3d_gist_consistent(internal, box3d, smallint, oid, internal),
  FUNCTION 2 box3d_gist_union(internal, internal),
  FUNCTION 5 box3d_gist_penalty(internal, internal, internal),
  FUNCTION 6 box3d_gist_picksplit(internal, internal),
  FUNCTION 7 box3d_gist_same(box3d, box3d, internal),
  FUNCTION 8 box3d_gist_distance(internal, box3d, smallint, oid, internal);
COMMENT ON OPERATOR CLASS box3d_ops USING bvh IS
  'bounding volume hierarchy of box3d: all box operators and nearest neighbours';
COMMENT ON OPERATOR FAMILY box3d_ops USING bvh IS
  'bounding volume hierarchy of box3d: all box operators and nearest neighbours';

-- ---------------------------------------------------------------------------
-- inspecting an index; for those who may read statistics
-- ---------------------------------------------------------------------------

CREATE FUNCTION bvh_stats(index regclass,
  OUT height integer, OUT pages bigint, OUT tuples bigint, OUT dead_tuples bigint,
  OUT leaf_fill float8, OUT sah_cost float8, OUT sibling_overlap float8,
  OUT dead_space float8, OUT level_pages bigint[], OUT level_tuples bigint[])
  AS 'MODULE_PATHNAME', 'bvh_stats'
  LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION bvh_stats(regclass) IS
  'figures of an index on boxes: levels, pages, tuples, fill of leaves, area of all pages in root areas, part of siblings that overlap, part of leaf volume without boxes; arrays are from leaves to root';
REVOKE ALL ON FUNCTION bvh_stats(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION bvh_stats(regclass) TO pg_stat_scan_tables;

CREATE FUNCTION bvh_nodes(index regclass,
  OUT level integer, OUT block bigint, OUT parent bigint, OUT tuples integer, OUT box box3d)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'bvh_nodes'
  LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION bvh_nodes(regclass) IS
  'pages of an index on boxes: level (0 for leaves), block, block of the parent, tuples, and the box around them';
REVOKE ALL ON FUNCTION bvh_nodes(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION bvh_nodes(regclass) TO pg_stat_scan_tables;

CREATE FUNCTION bvh_check(index regclass, heapallindexed boolean DEFAULT false,
  OUT invariant integer, OUT block bigint, OUT problem text)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'bvh_check'
  -- a parallel query may not take the snapshot that it needs
  LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION bvh_check(regclass, boolean) IS
  'broken invariants of an index on boxes, none if it is sound; with heapallindexed, also rows of the table that it lacks';
REVOKE ALL ON FUNCTION bvh_check(regclass, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION bvh_check(regclass, boolean) TO pg_stat_scan_tables;

-- ---------------------------------------------------------------------------
-- trees of bvh indexes in shared memory
-- ---------------------------------------------------------------------------

CREATE FUNCTION bvh_cache_load(index regclass) RETURNS bigint
  AS 'MODULE_PATHNAME', 'bvh_cache_load'
  LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION bvh_cache_load(regclass) IS
  'build the tree of a bvh index in shared memory, unless it is there; returns its boxes';

CREATE FUNCTION bvh_cache_drop(index regclass) RETURNS boolean
  AS 'MODULE_PATHNAME', 'bvh_cache_drop'
  LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION bvh_cache_drop(regclass) IS
  'free the tree of a bvh index in shared memory; false if there was none';

CREATE FUNCTION bvh_cache_entries(OUT index regclass, OUT state text,
  OUT generation bigint, OUT boxes bigint, OUT delta bigint, OUT bytes bigint,
  OUT hits bigint, OUT misses bigint, OUT builds bigint, OUT last_build timestamptz,
  OUT last_build_ms float8)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'bvh_cache_entries'
  LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION bvh_cache_entries() IS 'the rows of view bvh_cache';

CREATE VIEW bvh_cache AS SELECT * FROM bvh_cache_entries();
COMMENT ON VIEW bvh_cache IS
  'bvh indexes of this database and their trees in shared memory; all for members of pg_read_all_stats, else one''s own';
COMMENT ON COLUMN bvh_cache.index IS 'the index';
COMMENT ON COLUMN bvh_cache.state IS 'cold: no tree; building: the first one is under way; ready; rebuilding: ready, with the next one under way';
COMMENT ON COLUMN bvh_cache.generation IS 'number of the tree, which grows with each that is built; 0 for none';
COMMENT ON COLUMN bvh_cache.boxes IS 'boxes in the tree';
COMMENT ON COLUMN bvh_cache.delta IS 'rows inserted since, which are searched beside the tree';
COMMENT ON COLUMN bvh_cache.bytes IS 'memory that the tree takes, and the room for such rows';
COMMENT ON COLUMN bvh_cache.hits IS 'scans that a tree answered';
COMMENT ON COLUMN bvh_cache.misses IS 'scans since the last build that walked pages for want of a tree';
COMMENT ON COLUMN bvh_cache.builds IS 'how often a tree was built';
COMMENT ON COLUMN bvh_cache.last_build IS 'when the last one was finished; NULL for never';
COMMENT ON COLUMN bvh_cache.last_build_ms IS 'how long that took, in milliseconds';
GRANT SELECT ON bvh_cache TO PUBLIC;

CREATE FUNCTION bvh_cache_memory(OUT cache_size bigint, OUT used bigint,
  OUT this_database bigint, OUT other_databases bigint, OUT gone bigint, OUT old bigint)
  AS 'MODULE_PATHNAME', 'bvh_cache_memory'
  LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION bvh_cache_memory() IS
  'memory for trees of bvh indexes in bytes: the limit; what is used; of that, trees of this database, of others, of indexes and databases that are gone, and those being built, or dropped but still mapped by a session';
REVOKE ALL ON FUNCTION bvh_cache_memory() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION bvh_cache_memory() TO pg_read_all_stats;

-- ---------------------------------------------------------------------------
-- the machine
-- ---------------------------------------------------------------------------

CREATE FUNCTION bvh_simd_available() RETURNS SETOF text
  AS 'MODULE_PATHNAME', 'bvh_simd_available'
  LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 4;
COMMENT ON FUNCTION bvh_simd_available() IS
  'instruction sets that bvhindex.simd can choose here, best first';
