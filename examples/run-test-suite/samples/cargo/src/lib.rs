/// Items for each of some people. It loses the rest, which is the defect that a test finds.
pub fn share(items: u32, people: u32) -> Vec<u32> {
    vec![items / people; people as usize]
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn even() {
        assert_eq!(share(6, 3), [2, 2, 2]);
    }

    #[test]
    fn nothing_is_lost() {
        assert_eq!(share(7, 3).iter().sum::<u32>(), 7);
    }

    #[test]
    #[should_panic]
    fn nobody() {
        share(1, 0);
    }
}
