use sample::share;

#[test]
fn one_person_gets_all() {
    assert_eq!(share(5, 1), [5]);
}

#[test]
#[ignore]
fn a_million_people() {
    assert_eq!(share(1_000_000, 1_000_000).len(), 1_000_000);
}
