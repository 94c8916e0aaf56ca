-- Settings. What a machine has differs, so only "scalar" is named here.

-- a setting is there once the library is loaded, by its first use if not before
LOAD 'bvhindex';
SHOW bvhindex.simd;
SET bvhindex.simd = 'scalar';
SHOW bvhindex.simd;
SELECT box3d(0, 0, 0, 1, 1, 1) && box3d(1, 1, 1) AS scalar;
RESET bvhindex.simd;
SELECT 'scalar' IN (SELECT * FROM bvh_simd_available()) AS has_scalar;
SET bvhindex.simd = 'mmx';
SET bvhindex.simd = '';
SET bvhindex.no_such_setting = 1;
